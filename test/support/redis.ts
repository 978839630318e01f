import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { findPort } from './postgres.ts'

/** A real Redis, which loses everything when it stops. */
export interface TestRedis {
  readonly url: string
  /** Stops answering without closing connections. */
  freeze(): void
  thaw(): void
  /** Deletes all keys. */
  forget(): Promise<void>
  /** Ends it like a crash. */
  kill(): Promise<void>
  /** Starts it again on the same port. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Why Redis is not available on this machine, for `skip`; false if it is. */
export const lacksRedis: string | false =
  spawnSync('redis-server', ['--version']).status === 0 ? false : 'needs Redis: apt-get install redis-server'

/** Starts Redis on a free port; with settings such as `--tls-cert-file`, it only accepts TLS. */
export async function startRedis(settings: readonly string[] = []): Promise<TestRedis> {
  const port = await findPort()
  let running = await startServer(port, settings)
  const kill = () => running.kill('SIGKILL')
  process.once('exit', kill)
  const end = async () => {
    if (running.exitCode !== null || running.signalCode !== null) return
    kill()
    await once(running, 'exit')
  }
  return {
    url: `${hasTls(settings) ? 'rediss' : 'redis'}://127.0.0.1:${port}`,
    freeze: () => void running.kill('SIGSTOP'),
    thaw: () => void running.kill('SIGCONT'),
    async forget() {
      const socket = connect(port, '127.0.0.1')
      socket.write('FLUSHALL\r\n')
      await once(socket, 'data')
      socket.destroy()
    },
    kill: end,
    async restart() {
      await end()
      running = await startServer(port, settings)
    },
    async stop() {
      process.off('exit', kill)
      await end()
    },
  }
}

function hasTls(settings: readonly string[]): boolean {
  return settings.some((setting) => setting.startsWith('--tls'))
}

async function startServer(port: number, settings: readonly string[]) {
  const ports = hasTls(settings) ? ['--port', '0', '--tls-port', String(port)] : ['--port', String(port)]
  const own = [...ports, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...settings]
  const child = spawn('redis-server', own, { stdio: ['ignore', 'pipe', 'inherit'] })
  let log = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (log += text))
  const failed = once(child, 'exit').then(() => Promise.reject(new Error(`Redis did not start\n${log}`)))
  const isUp = async () => {
    while (!log.includes('Ready to accept connections')) await once(child.stdout, 'data')
  }
  await Promise.race([isUp(), failed])
  failed.catch(() => undefined) // it ends with the test
  return child
}
