from labelsieve.information.backends.native import NativeBackend
from labelsieve.information.backends.protocol import Backend, Panel

__all__ = ["Backend", "NativeBackend", "Panel"]
