import AttachPrepJobs
import Configuration
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle
