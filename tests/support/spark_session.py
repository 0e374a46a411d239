"""A session of Spark in local mode."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def local_session():
    """Yield a session with two threads, and stop it; skips the test where Java or PySpark is not installed.

    For a fixture with the scope of a module: starting Java takes seconds.
    """
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
    if shutil.which(java) is None or subprocess.run([java, "-version"], capture_output=True).returncode:
        pytest.skip("Spark needs Java, which is not installed")
    sql = pytest.importorskip("pyspark.sql", reason="PySpark is not installed: pip install --group spark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        builder = sql.SparkSession.builder.master("local[2]")
        for name in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
            builder = builder.config(name, "false")
        running = builder.config("spark.sql.shuffle.partitions", "3").getOrCreate()
        running.sparkContext.setLogLevel("OFF")
        yield running
        running.stop()
