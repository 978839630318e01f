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

/** Asks a server the same thing again and again, one after the other, over one connection that stays. */
export interface Lane {
  /** Every request so far. */
  readonly asked: readonly Asked[]
  stop(): Promise<readonly Asked[]>
}

export function openLane(port: number, sent: Omit<Sent, 'agent'>, pauseMs = 5): Lane {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
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
