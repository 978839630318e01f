import { Agent, request, type IncomingHttpHeaders } from 'node:http'
import { abortTimeoutMs } from './until.ts'

export interface LoadOptions {
  readonly port: number
  readonly path: string
  readonly perSecond: number
  /** Each request of this number uses a new connection; the others share persistent connections. */
  readonly newConnectionEach: number
  /** @returns what is wrong with a response */
  judge(answer: LoadAnswer): string | undefined
}

export interface LoadAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface LoadReport {
  readonly sent: number
  /** The problem of each failed request. */
  readonly failures: readonly string[]
  /** The latency of each request from when it was due, so that it includes times when the server was blocked. */
  readonly latenciesMs: readonly number[]
}

/** Sends requests at a constant rate, whether or not earlier ones were answered. */
export function startLoad(options: LoadOptions): { stop(): Promise<LoadReport> } {
  const agent = new Agent({ keepAlive: true })
  const failures: string[] = []
  const latenciesMs: number[] = []
  const began = performance.now()
  const pending = new Set<Promise<void>>()
  let sent = 0

  function sendDue(): void {
    const due = Math.floor(((performance.now() - began) * options.perSecond) / 1000)
    while (sent < due) {
      const dueAt = began + (sent * 1000) / options.perSecond
      const isNew = sent % options.newConnectionEach === 0
      const one = send(options, isNew ? undefined : agent).then((failure) => {
        latenciesMs.push(performance.now() - dueAt)
        if (failure !== undefined) failures.push(failure)
        pending.delete(one)
      })
      pending.add(one)
      sent += 1
    }
  }

  const timer = setInterval(sendDue, 2)
  return {
    async stop() {
      clearInterval(timer)
      await Promise.all(pending)
      agent.destroy()
      return { sent, failures, latenciesMs }
    },
  }
}

/** @returns the problem, if any */
function send({ port, path, judge }: LoadOptions, agent: Agent | undefined): Promise<string | undefined> {
  return new Promise((resolve) => {
    const outgoing = request(
      { host: '127.0.0.1', port, path, agent: agent ?? false, timeout: abortTimeoutMs },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => (text += part))
        response.on('end', () => resolve(judge({ status: response.statusCode ?? 0, headers: response.headers, text })))
        response.on('error', (error) => resolve(error.message))
      },
    )
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${abortTimeoutMs / 1000} s`)))
    outgoing.on('error', (error) => resolve(error.message))
    outgoing.end()
  })
}
