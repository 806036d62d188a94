"""Language and vision-language models that learn a rule from examples in their prompt. No torch."""
