import { execFile } from 'node:child_process'
import { readdir, readFile, readlink } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

/** The process that listens on a port. */
export interface PortOwner {
  readonly pid: number
  /** Its command line, with only the base name of the program. */
  readonly command: string
  /** Its working directory, if known. */
  readonly folder: string | undefined
}

/** Finds the process that listens on a TCP port, if this user may see it. */
export async function findPortOwner(port: number): Promise<PortOwner | undefined> {
  try {
    if (process.platform === 'linux') return (await findByProc(port)) ?? (await findByLsof(port))
    return process.platform === 'win32' ? undefined : await findByLsof(port)
  } catch {
    return undefined
  }
}

async function findByProc(port: number): Promise<PortOwner | undefined> {
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'utf8').catch(() => '')),
  )
  const sockets = new Set(tables.flatMap((table) => listeningInodes(table, port)).map((inode) => `socket:[${inode}]`))
  if (sockets.size === 0) return undefined
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    if (!(await holdsSocket(pid, sockets))) continue
    const [program = '', ...words] = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0')
    const folder = await readlink(`/proc/${pid}/cwd`).catch(() => undefined)
    return { pid: Number(pid), command: [path.basename(program), ...words].join(' ').trim(), folder }
  }
  return undefined
}

/** Processes of other users cannot be read. */
async function holdsSocket(pid: string, sockets: ReadonlySet<string>): Promise<boolean> {
  const folder = `/proc/${pid}/fd`
  const links = await readdir(folder).then(
    (names) => Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => ''))),
    () => [],
  )
  return links.some((link) => sockets.has(link))
}

/** @param table as in proc_net(5): local address and port in hexadecimal, the state (0A is listening), the inode */
export function listeningInodes(table: string, port: number): readonly string[] {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/)
    return local.endsWith(wanted) && state === '0A' && inode !== undefined ? [inode] : []
  })
}

const timeoutMs = 2000

async function findByLsof(port: number): Promise<PortOwner | undefined> {
  const words = ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc']
  const { stdout } = await promisify(execFile)('lsof', words, { timeout: timeoutMs })
  return parseLsof(stdout)
}

/** @param text fields of lsof: `p` with a process id, `c` with its command */
export function parseLsof(text: string): PortOwner | undefined {
  const [, pid] = /^p(\d+)$/m.exec(text) ?? []
  const [, command = ''] = /^c(.+)$/m.exec(text) ?? []
  return pid === undefined ? undefined : { pid: Number(pid), command, folder: undefined }
}
