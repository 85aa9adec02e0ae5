import AttachPrep
import Crypto
import GRDB
import Logging
import Metrics
