"""Several seeds of one model trained side by side in one process: one step for all, on stacked weights.

Small networks leave a GPU idle most of the time; ten of them stacked take little longer than one. Each seed has its own
weights, its own order of examples, its own best epoch and its own early stop, as if it were trained alone.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from assay.data.dataset import SplitData
from assay.errors import ConfigError, RunFailed
from assay.models.core.losses import Supervision
from assay.models.core.model import Epoch, Report
from assay.models.core.neural import NeuralModel
from assay.models.core.tensors import Batch, to_batch
from assay.models.core.training import BestEpoch, Phase, determinism, device_for, seed_of

NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


def why_not_together(model: NeuralModel) -> str | None:
    """Return why seeds of a model cannot be trained side by side, or None if they can."""
    if any(isinstance(part, NORMS) for part in model.modules()):
        return "its network keeps running means of each batch"
    if isinstance(model.config, Supervision) and model.config.supervised_share < 1:
        return "each seed is shown the concepts of other examples"
    return None


def fit_together(
    models: Sequence[NeuralModel], train_data: SplitData, valid: SplitData, report: Report = lambda epoch, epochs: None
) -> None:
    """Fit models that differ in their seed only."""
    first = models[0]
    why = why_not_together(first)
    if why is not None:
        raise ConfigError(f"seeds of {first.name!r} cannot be trained side by side: {why}")
    device = device_for(first.config)
    for model in models:
        model.to(device)
    data, held = to_batch(train_data, device), to_batch(valid, device)
    orders = [torch.Generator().manual_seed(seed_of(model.seed, model.name, "training")) for model in models]
    torch.manual_seed(seed_of(first.seed, first.name, "side by side"))
    phases = [model.phases(data) for model in models]
    with determinism(first.config.deterministic):
        for same in zip(*phases, strict=True):
            if same[0].parameters:
                _Together(models, same, data, held, orders).run(report)


class _Together:
    """One phase of several models."""

    def __init__(
        self,
        models: Sequence[NeuralModel],
        phases: Sequence[Phase],
        data: Batch,
        held: Batch,
        orders: Sequence[torch.Generator],
    ) -> None:
        self.models, self.phases, self.data, self.held, self.orders = models, phases, data, held, orders
        self.config = models[0].config
        self.step = _Step(models[0], phases[0], data)
        self.weights = self._stacked()
        self.standings = [BestEpoch() for _ in models]

    def _stacked(self) -> dict[str, Tensor]:
        """Return the weights of all models, those that this phase learns as leaves."""
        learned = {id(parameter) for parameter in self.phases[0].parameters}
        made = {}
        for name, parameter in self.models[0].named_parameters():
            same = torch.stack([dict(model.named_parameters())[name].detach() for model in self.models])
            made[name] = same.requires_grad_(id(parameter) in learned)
        return made

    def run(self, report: Report) -> None:
        """Train until every model has stopped, and leave each as it was in its best epoch."""
        config = self.config
        learned = [one for one in self.weights.values() if one.requires_grad]
        optimizer = torch.optim.Adam(learned, lr=config.learning_rate, weight_decay=config.weight_decay)
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, config.learning_rate_decay)
        for number in range(1, config.epochs + 1):
            for phase in self.phases:
                phase.begin(number, config.epochs)
            losses = self._epoch(optimizer)
            schedule.step()
            self._judge(number, losses)
            report(self.models[0].history[-1], config.epochs)
            if all(standing.since >= config.patience for standing in self.standings):
                break
        for model, standing in zip(self.models, self.standings, strict=True):
            model.load_state_dict(standing.weights)

    def _epoch(self, optimizer: torch.optim.Optimizer) -> list[float]:
        """Take a step of all models for each batch and return their mean losses."""
        device, size = self.data.images.device, len(self.data)
        self.models[0].train()
        orders = torch.stack([torch.randperm(size, generator=order) for order in self.orders]).to(device)
        total = torch.zeros(len(self.models), device=device)
        one = vmap(lambda weights, rows: functional_call(self.step, weights, (rows,)), randomness="different")
        for rows in torch.split(orders, self.config.batch_size, dim=1):
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(device.type, torch.bfloat16, enabled=self.config.precision == "bfloat16"):
                losses = one({f"model.{name}": weight for name, weight in self.weights.items()}, rows)
            losses.sum().backward()
            optimizer.step()
            total += losses.detach() * rows.shape[1]
        return (total / size).tolist()

    def _judge(self, number: int, losses: Sequence[float]) -> None:
        """Put the weights into each model, score it, and keep what is best."""
        for place, (model, standing) in enumerate(zip(self.models, self.standings, strict=True)):
            if standing.since >= self.config.patience:
                continue
            if losses[place] != losses[place]:
                raise RunFailed(f"the loss of seed {model.seed} became NaN; lower the learning rate")
            mine = {name: weight[place].detach().clone() for name, weight in self.weights.items()}
            model.load_state_dict(mine, strict=False)
            found = model.validation_f1(self.held, self.phases[place].score)
            best = standing.judge(found, losses[place], model)
            model.history.append(Epoch(self.phases[place].name, number, losses[place], found, best))


class _Step(nn.Module):
    """The loss of a phase as a module, so that the weights of its model can be put in from outside."""

    def __init__(self, model: NeuralModel, phase: Phase, data: Batch) -> None:
        super().__init__()
        self.model, self.phase, self.data = model, phase, data

    def forward(self, rows: Tensor) -> Tensor:
        """Return the loss of some rows."""
        return self.phase.loss(self.data.take(rows))
