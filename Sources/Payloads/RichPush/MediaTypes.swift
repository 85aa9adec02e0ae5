// Apps import one module: the types that RichPush shares with the worker are a module of their own, because the worker
// needs no code of a phone. The attribute is Swift's only way to say so.
@_exported public import MediaTypes
