import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { send, type Answer, type Sent } from '../support/send.ts'

/** One request of a lane; times are of this process's monotonic clock. */
export interface Asked {
  readonly began: number
  readonly ended: number
  /** What came of it, unless its connection broke. */
  readonly answer: Answer | undefined
  /** How its connection broke. */
  readonly failure: string | undefined
}

/** Sends a server the same request again and again, each some time after the response to the previous one. */
export interface Lane {
  /** Every request so far. */
  readonly asked: readonly Asked[]
  stop(): Promise<readonly Asked[]>
}

/** @param how `keepAlive`: over one connection, as by default, or over a new one each time */
export function openLane(
  port: number,
  sent: Omit<Sent, 'agent'>,
  { keepAlive = true, pauseMs = 5 }: { readonly keepAlive?: boolean; readonly pauseMs?: number } = {},
): Lane {
  const agent = new Agent({ keepAlive, maxSockets: 1 })
  const asked: Asked[] = []
  const stopping = new AbortController()
  async function ask(): Promise<void> {
    while (!stopping.signal.aborted) {
      const began = performance.now()
      const outcome = await send(port, { ...sent, agent }).then(
        (answer) => ({ answer, failure: undefined }),
        (error: NodeJS.ErrnoException) => ({ answer: undefined, failure: error.code ?? error.message }),
      )
      asked.push({ began, ended: performance.now(), ...outcome })
      await pause(pauseMs)
    }
  }
  const asking = ask()
  return {
    asked,
    async stop() {
      stopping.abort()
      await asking
      agent.destroy()
      return asked
    },
  }
}
