"""Training of pipelines from treebanks (docs/ud.md)."""

from marginalia.learn.pipeline.api import train_pipeline
from marginalia.learn.pipeline.training import PartProgress, PipelineTraining

__all__ = ["PartProgress", "PipelineTraining", "train_pipeline"]
