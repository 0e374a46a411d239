from labelsieve.counting.backends.native import NativeBackend
from labelsieve.counting.backends.protocol import Backend, Panel

__all__ = ["Backend", "NativeBackend", "Panel"]
