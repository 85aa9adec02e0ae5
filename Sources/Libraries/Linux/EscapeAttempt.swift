import CLinux
import Glibc

/// Operations that the sandbox must prevent. Each tries one and returns whether it succeeded.
///
/// Used only to test the sandbox; where it works, some of them end the process.
package enum EscapeAttempt {
    /// Opens a file for reading.
    package static func reads(_ path: String) -> Bool { isOpen(unsafe open(path, O_RDONLY | O_CLOEXEC)) }

    /// Creates an unnamed file in a folder.
    package static func writes(into folder: String) -> Bool {
        // O_TMPFILE, a macro of two flags that Swift does not import.
        isOpen(unsafe open(folder, 0o20_000_000 | O_DIRECTORY | O_WRONLY | O_CLOEXEC, 0o600))
    }

    /// Opens a folder to list it.
    package static func lists(_ folder: String) -> Bool {
        isOpen(unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    }

    /// Creates a socket, which any network access requires.
    package static func opensSocket() -> Bool { isOpen(socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)) }

    /// Connects to a port on loopback.
    package static func connects(port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return code == 0
    }

    /// Executes another program in this process; on success this does not return.
    package static func executes(_ path: String) -> Bool {
        unsafe path.withCString { path in
            var arguments = [UInt(bitPattern: path), 0]
            return unsafe arguments.withUnsafeMutableBytes { arguments in
                let list = Int(bitPattern: arguments.baseAddress)
                return CLinux_syscall(Int(SYS_execve), Int(bitPattern: path), list, 0, 0) == 0
            }
        }
    }

    /// Creates a process, which ends at once.
    package static func forks() -> Bool {
        let child = CLinux_syscall(Int(SYS_clone), Int(SIGCHLD), 0, 0, 0)
        if child == 0 { _exit(0) }
        guard child > 0 else { return false }
        _ = waitpid(pid_t(child), nil, 0)
        return true
    }

    /// Calls `ptrace` with PTRACE_TRACEME, its least intrusive request.
    package static func traces() -> Bool { CLinux_syscall(Int(SYS_ptrace), 0, 0, 0, 0) == 0 }

    /// Checks with signal 0 whether a process can be signaled.
    package static func signals(_ process: CInt) -> Bool { kill(process, 0) == 0 }

    /// Maps memory that is writable and executable, as injected code needs.
    package static func makesMemoryExecutable() -> Bool {
        maps(bytes: 4_096, PROT_READ | PROT_WRITE | PROT_EXEC)
    }

    /// Maps private memory.
    package static func allocates(bytes: Int) -> Bool { maps(bytes: bytes, PROT_READ | PROT_WRITE) }

    /// Uses processor time until the process has used that many seconds.
    package static func spins(seconds: Int) -> Bool {
        var now = timespec()
        repeat { unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) } while now.tv_sec < seconds
        return true
    }

    /// Writes at an offset of an open file.
    package static func grows(_ descriptor: CInt, to offset: Int) -> Bool {
        unsafe pwrite(descriptor, "x", 1, off_t(offset)) == 1
    }

    /// Creates a file in memory; returns its descriptor.
    package static func memoryFile() -> CInt {
        unsafe "trial".withCString { name in
            CInt(CLinux_syscall(Int(SYS_memfd_create), Int(bitPattern: name), 1, 0, 0))
        }
    }

    /// Holds `count` more descriptors open at the same time.
    package static func opens(descriptors count: Int) -> Bool {
        var opened: [CInt] = []
        defer { for descriptor in opened { close(descriptor) } }
        while opened.count < count {
            let descriptor = dup(0)
            guard descriptor >= 0 else { return false }
            opened.append(descriptor)
        }
        return true
    }

    private static func isOpen(_ descriptor: CInt) -> Bool {
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }

    private static func maps(bytes: Int, _ protection: CInt) -> Bool {
        guard let memory = unsafe mmap(nil, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            unsafe memory != MAP_FAILED
        else { return false }
        unsafe munmap(memory, bytes)
        return true
    }
}
