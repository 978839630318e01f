import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findPort } from './postgres.ts'

/** A PgBouncer in transaction mode in front of a PostgreSQL. */
export interface PgBouncer {
  /** Returns the URL of a database through PgBouncer. */
  through(url: string): string
  /** Its log. */
  readonly log: () => string
  stop(): Promise<void>
}

const program = ['pgbouncer', '/usr/sbin/pgbouncer'].find((name) => spawnSync(name, ['--version']).status === 0)

/** Why PgBouncer is not available on this machine, for `skip`; false if it is. */
export const lacksPgBouncer: string | false =
  program === undefined ? 'needs PgBouncer: apt-get install pgbouncer' : false

const nobody = 65534

/** Starts it in front of the server of a URL, with few connections, so that clients must share them. */
export async function startPgBouncer(target: string): Promise<PgBouncer> {
  const { hostname, port: targetPort, username, password } = new URL(target)
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-pgbouncer-'))
  const port = await findPort()
  const file = path.join(folder, 'pgbouncer.ini')
  const login = `user=${decodeURIComponent(username)} password=${decodeURIComponent(password)}`
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${targetPort} ${login}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 6',
    'server_login_retry = 1', // as docs/operations.md recommends
    'query_wait_timeout = 10',
    'max_client_conn = 500',
    'log_connections = 0',
    'log_disconnections = 0',
  ]
  await writeFile(file, lines.join('\n'), { mode: 0o600 })
  const isRoot = process.getuid?.() === 0 // it does not run as root
  if (isRoot) for (const one of [folder, file]) await chown(one, nobody, nobody)
  await chmod(folder, 0o700)
  const child = spawn(program!, [file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(isRoot ? { uid: nobody, gid: nobody } : {}),
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = once(child, 'exit')
  let log = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (log += text))
  }
  const isUp = async () => {
    while (!log.includes('process up')) await once(child.stderr, 'data')
  }
  const failed = ended.then(() => Promise.reject(new Error(`PgBouncer did not start\n${log}`)))
  await Promise.race([isUp(), failed])
  failed.catch(() => undefined) // it may be stopped before it fails
  return {
    through: (url) => Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href,
    log: () => log,
    async stop() {
      process.off('exit', kill)
      kill()
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
