"""`assay annotate`: the same images with concepts and labels as an annotator would give them."""

from assay.cli.console import (
    ConfigOption,
    DataArgument,
    JsonFlag,
    OutOption,
    SeedOption,
    SetOption,
    print_json,
    print_table,
    say,
    settings_from,
)


def annotate(
    data: DataArgument,
    output: OutOption,
    seed: SeedOption = 0,
    settings: SetOption = [],  # noqa: B006
    config: ConfigOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Write a copy of a dataset with imperfect annotations.

    Concepts can be missing, noisy, fewer or others, labels noisy, rows skewed. The ground truth stays; models are
    trained on the annotated columns `given_...` beside it.
    """
    from assay.api import annotate_dataset

    outcome = annotate_dataset(data, output, settings_from(settings, config), seed=seed)
    manifest, usage = outcome.manifest, outcome.usage
    counts = {} if manifest.task.annotation is None else manifest.task.annotation.found
    if as_json:
        facts = {"folder": str(output), "fingerprint": manifest.fingerprint, "splits": counts}
        print_json({**facts, **({"usage": usage} if usage else {})})
        return
    rows = [[name, f"{n['examples']:,}", *(f"{100 * n[key]:.1f} %" for key in CHANGES)] for name, n in counts.items()]
    print_table(["split", "examples", "concepts missing", "concepts wrong", "labels wrong"], rows)
    if usage:
        cached, unreadable = f"{usage['from_cache']} from the cache", f"{usage['unreadable']} pictures not read"
        tokens = f"tokens: {usage['tokens_in']:,} + {usage['tokens_out']:,}, cost: {usage['cost']:g}"
        say(f"answers: {usage['requests']} ({cached}), {unreadable}, {tokens}")
    say(f"{output}  fingerprint {manifest.fingerprint}  next: assay train cbm {output} -o RUN")


CHANGES = ("missing", "wrong", "wrong_labels")
