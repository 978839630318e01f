import { Args, Flags, HostCommand, formatClock, paint, toPrintable, untilAborted } from '../../bin/cli/index.ts'
import type { ReceivedDelivery, EventListener } from '../../src/operate/index.ts'

/** The width of the time before a delivery. */
const margin = ' '.repeat(10)

export default class EventListen extends HostCommand {
  static override description =
    'Print the deliveries of an event in this terminal\nFor development only. Press Ctrl+C to stop.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> todo_created',
    '<%= config.bin %> <%= command.id %> todo_created --status 503',
    '<%= config.bin %> <%= command.id %> todo_created --json | jq .data.title',
  ]
  static override args = { name: Args.string({ description: 'Name of the event', required: true }) }
  static override flags = {
    user: Flags.string({ description: 'User who subscribes; default: the first user of dev' }),
    port: Flags.integer({
      description: 'Port to listen on; default: any free port',
      default: 0,
      min: 0,
      max: 65_535,
    }),
    status: Flags.integer({ description: 'HTTP status to respond with', default: 204, min: 200, max: 599 }),
    json: Flags.boolean({ description: 'Print each delivery as one line of JSON' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(EventListen)
    const stop = this.stopSignal()
    const { listenToEvent } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    await this.withHost(openHost, async (host) => {
      const listening = await listenToEvent(host, {
        event: args.name,
        user: flags.user,
        port: flags.port,
        status: flags.status,
        onDelivery: (delivery) => (flags.json ? this.print(toLine(delivery)) : this.#show(delivery)),
      })
      this.#begin(args.name, listening)
      await untilAborted(stop)
      await listening.close()
    })
  }

  #begin(event: string, { endpoint, user }: EventListener): void {
    this.note(`  Listening  ${endpoint}`)
    this.note(`  Event      ${event}, as ${user}; delivered by waypost dev or event:execute. Ctrl+C stops.\n`)
  }

  #show({ id, event, body, problem }: ReceivedDelivery): void {
    const signature = problem === undefined ? 'signature ok' : `signature ${paint('red', problem)}`
    this.print(`${formatClock(Date.now())}  ${toPrintable(event)}   ${toPrintable(id)}   ${signature}`)
    for (const line of prettify(body).split('\n')) this.print(`${margin}${toPrintable(line)}`)
  }
}

function prettify(body: string): string {
  const data = parse(body)
  return data === body ? body : JSON.stringify(data, undefined, 2)
}

function toLine({ id, event, body, problem }: ReceivedDelivery): string {
  return JSON.stringify({ delivery: id, event, signature: problem ?? 'ok', data: parse(body) })
}

/** Returns the data; the text itself if it is not JSON. */
function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}
