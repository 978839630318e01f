// Sends the load of `bench/turns.ts`.
import { Client } from 'undici'

/** The requested load. */
export interface LoadOrder {
  readonly port: number
  readonly request: LoadRequest
  readonly ms: number
  /** The number of connections and of concurrent requests on each: 10 and 5 by default. */
  readonly connections?: number
  readonly pipelining?: number
}

export interface LoadRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

if (import.meta.main) {
  process.on('message', (order: LoadOrder) => void sendLoad(order).then((report) => process.send!(report)))
}

/** Sends as many requests as are answered in the time, over a few connections that always have some in flight. */
async function sendLoad({
  port,
  request,
  ms,
  connections = 10,
  pipelining = 5,
}: LoadOrder): Promise<{ answered: number }> {
  const end = performance.now() + ms
  let answered = 0
  const clients = Array.from({ length: connections }, () => new Client(`http://127.0.0.1:${port}`, { pipelining }))
  const caller = async (client: Client) => {
    while (performance.now() < end) {
      const { statusCode, body } = await client.request(request)
      if (statusCode >= 300 && statusCode !== 304)
        throw new Error(`${request.path} answered ${statusCode}: ${await body.text()}`)
      await body.dump()
      answered += 1
    }
  }
  await Promise.all(clients.flatMap((client) => Array.from({ length: pipelining }, () => caller(client))))
  await Promise.all(clients.map((client) => client.close()))
  return { answered }
}
