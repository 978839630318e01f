import { Args, Flags, HostCommand, plural, sinceFlag } from '../../bin/cli/index.ts'
import type { ActingHost, ReplayRequest } from '../../src/operate/index.ts'

export default class EventReplay extends HostCommand {
  static override description =
    'Repeat a finished delivery or run, or all dead ones\nA replayed delivery keeps its id and gets four new attempts.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> dlv_01KAK7W1R2M9ZQ4T7XBC',
    '<%= config.bin %> <%= command.id %> --dead --since 24h',
    '<%= config.bin %> <%= command.id %> --dead --since 24h --event todo_created --yes',
    '<%= config.bin %> <%= command.id %> --dead --listener bill',
  ]
  static override enableJsonFlag = true
  static override args = { delivery: Args.string({ description: 'Id of a delivery or run' }) }
  static override flags = {
    dead: Flags.boolean({ description: 'Replay all deliveries that became dead since the time in --since' }),
    since: sinceFlag({
      description:
        'With --dead: only deliveries that became dead since this time: how long ago, such as 24h, or an ISO time',
      dependsOn: ['dead'],
    }),
    event: Flags.string({ description: 'With --dead: only deliveries of this event', dependsOn: ['dead'] }),
    subscription: Flags.string({
      description: 'With --dead: only deliveries to this subscription, by id',
      dependsOn: ['dead'],
    }),
    listener: Flags.string({
      description: 'With --dead: all dead runs of this listener',
      dependsOn: ['dead'],
      exclusive: ['since', 'event', 'subscription'],
    }),
    limit: Flags.integer({
      description: 'With --dead: maximum number of deliveries',
      default: 10_000,
      min: 1,
      max: 1_000_000,
    }),
    yes: Flags.boolean({ char: 'y', description: 'Do not ask for confirmation' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(EventReplay)
    const { delivery } = args
    const { since, listener } = flags
    if (delivery !== undefined && !flags.dead) return this.#withTarget((host) => this.#replayOne(host, delivery))
    if (delivery !== undefined || !flags.dead) {
      throw this.usageError('Specify either DELIVERY or --dead --since TIME')
    }
    if (listener !== undefined) return this.#withTarget((host) => this.#replayRuns(host, listener, flags.yes))
    if (since === undefined) throw this.usageError('--dead requires --since, for example --since 24h')
    return this.#withTarget((host) => this.#replayDead(host, { ...flags, since }))
  }

  async #withTarget<Value>(work: (host: ActingHost) => Promise<Value>): Promise<Value> {
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      return work(host)
    })
  }

  async #replayOne(host: ActingHost, delivery: string): Promise<unknown> {
    const { replayHostDelivery, replayHostRun } = await import('../../src/operate/index.ts')
    await (delivery.startsWith('run_') ? replayHostRun : replayHostDelivery)(host, delivery)
    this.print(`  Replayed   ${delivery}, due now`)
    return { replayed: 1, more: false }
  }

  async #replayRuns(host: ActingHost, listener: string, isConfirmed: boolean): Promise<unknown> {
    const { replayHostRuns } = await import('../../src/operate/index.ts')
    const confirm = (runs: number) => this.confirmChange(`Replay ${plural(runs, 'dead run')}?`, { isConfirmed })
    const replayed = await replayHostRuns(host, { listener, confirm })
    if (replayed === undefined) return { replayed: 0, more: true }
    if (replayed === 0) this.print(`  No dead run of ${listener} can be replayed.`)
    else this.print(`  Replayed   ${plural(replayed, 'run')}, due now`)
    return { replayed, more: false }
  }

  async #replayDead(host: ActingHost, { yes, ...request }: DeadFlags): Promise<unknown> {
    const { maxCounted, replayHostDeliveries } = await import('../../src/operate/index.ts')
    const { since, event, subscription, limit } = request
    const confirm = (count: number) => {
      const all = count === maxCounted ? `${count} or more dead deliveries` : plural(count, 'dead delivery')
      const chosen = count > limit ? `the ${limit} oldest of ${all}` : all
      return this.confirmChange(`Replay ${chosen}?`, { isConfirmed: yes })
    }
    const done = await replayHostDeliveries(host, { since, event, subscription, limit, confirm })
    if (done === undefined) return { replayed: 0, more: true }
    if (done.replayed === 0) this.print('  No dead delivery since then can be replayed.')
    else this.print(`  Replayed   ${plural(done.replayed, 'delivery')}, due now`)
    if (done.more) this.note('  There are more. Run the command again.')
    return done
  }
}

type DeadFlags = Omit<ReplayRequest, 'confirm'> & { readonly yes: boolean }
