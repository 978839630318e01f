import type { Log, Seed } from '../../contract/index.ts'
import type { Host } from '../../host/index.ts'
import type { PluginSet } from '../../plugin/index.ts'
import { ensureSeedTable, recordSeed } from '../../store/index.ts'
import { errors } from '../errors.ts'
import type { BuiltScripts } from './build-scripts.ts'
import { describeScriptError } from './describe-script-error.ts'
import type { SeedFile } from './find-seeds.ts'
import { openScripts, type OpenedScripts, type ScriptRun } from './open-scripts.ts'

export interface RanSeed {
  readonly name: string
  readonly ms: number
}

export interface SeedsToRun extends BuiltScripts {
  readonly host: Host
  readonly plugins: PluginSet
  readonly log: Log
  readonly seeds: readonly SeedFile[]
  /** Whether events that seeds dispatch are sent. */
  readonly sendsEvents: boolean
  readonly signal?: AbortSignal | undefined
  onRan?(seed: RanSeed): void
}

/**
 * Runs seeds in their order, each in one transaction of System together with its record. The caller holds the lock.
 * @throws WP_PROJECT_SEED_FAILED, WP_PROJECT_SCRIPT_FORM; earlier seeds keep what they have written
 */
export async function runSeeds(toRun: SeedsToRun): Promise<readonly RanSeed[]> {
  const { host, seeds, signal } = toRun
  const ran: RanSeed[] = []
  await ensureSeedTable(host.system)
  const scripts = await openScripts(toRun)
  try {
    for (const seed of seeds) {
      signal?.throwIfAborted()
      const startedAt = host.clock.monotonic()
      await runSeed(scripts, toRun, seed).catch((error: unknown) => {
        if (signal?.aborted) throw signal.reason
        throw describeFailure(seed, error, ran)
      })
      const one = { name: seed.name, ms: host.clock.monotonic() - startedAt }
      ran.push(one)
      toRun.onRan?.(one)
    }
  } finally {
    await scripts.close()
  }
  return ran
}

async function runSeed(scripts: OpenedScripts, { signal }: SeedsToRun, { name, file }: SeedFile): Promise<void> {
  const seed = await scripts.load(file)
  if (typeof seed !== 'function') throw errors.WP_PROJECT_SCRIPT_FORM({ file, what: 'a function (context) => …' })
  const work: ScriptRun = (context) =>
    context.transaction('System', async (transaction) => {
      await (seed as Seed)(context)
      signal?.throwIfAborted()
      await recordSeed(transaction, name, context.now())
    })
  await scripts.run(file, work)
}

function describeFailure({ name }: SeedFile, error: unknown, ran: readonly RanSeed[]): Error {
  const before = ran.map((one) => one.name).join(', ')
  return errors.WP_PROJECT_SEED_FAILED(
    { name, reason: describeScriptError(error), before: before === '' ? '' : `These have run: ${before}. ` },
    { cause: error },
  )
}
