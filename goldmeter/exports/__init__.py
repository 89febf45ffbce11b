"""Results in the forms of other tools: JUnit, MLflow, OpenTelemetry, Every Eval Ever, Great Expectations."""
