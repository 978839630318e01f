import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { makeDispatcher } from '../../src/events/index.ts'
import { catalogOf, openHost, type Host } from '../../src/host/index.ts'
import { executeHostEvents } from '../../src/jobs/index.ts'
import { openTestProject } from '../../src/project/index.ts'
import { loadActiveRelease } from '../../src/release/index.ts'
import { prepareTestHost } from '../../src/server/index.ts'
import { copySystem } from '../support/migrated.ts'

/** A project whose listeners write into a ledger, on SQLite. */
export interface ListenerSite extends AsyncDisposable {
  readonly folder: string
  readonly host: Host
  /** Activates a release of these files. @returns its id */
  install(files: Readonly<Record<string, string>>): Promise<string>
  /** Dispatches `acted` as a process of the active release does. */
  dispatch(...all: readonly object[]): Promise<void>
  ledger(): Promise<readonly string[]>
  /** The state of each run and why, in the order in which they were made. */
  runs(): Promise<readonly { readonly listener: string; readonly status: string; readonly outcome: string | null }[]>
  /** Starts a worker. @returns a function that stops it */
  start(): () => Promise<void>
}

export async function openListenerSite(): Promise<ListenerSite> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-listener-site-'))
  await mkdir(path.join(folder, 'src'))
  await writeFile(path.join(folder, 'ledger'), '')
  const url = `sqlite:${path.join(folder, 'system.db')}`
  await copySystem(url, folder)
  const variables = {
    PATH: process.env['PATH']!,
    LEDGER: path.join(folder, 'ledger'),
    WAYPOST_SYSTEM_URL: url,
    WAYPOST_SECRET: 'a secret that is long enough',
    WAYPOST_BASE_URL: 'http://localhost:3000',
  }
  const host = await openHost({ folder, variables })
  await prepareTestHost(host)
  return {
    folder,
    host,
    async install(files) {
      for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text)
      await (await openTestProject(folder)).install(host)
      return (await loadActiveRelease(host.system))!.id
    },
    async dispatch(...all) {
      const { manifest } = (await loadActiveRelease(host.system))!
      const dispatcher = makeDispatcher(host.system, catalogOf(manifest))
      await dispatcher.store(all.map((data) => dispatcher.prepare({ event: 'acted', data })))
    },
    ledger: async () => (await readFile(path.join(folder, 'ledger'), 'utf8')).split('\n').filter(Boolean),
    runs: () =>
      host.system.db.selectFrom('waypost_run').select(['listener', 'status', 'outcome']).orderBy('id').execute(),
    start() {
      const stopping = new AbortController()
      const running = executeHostEvents(host, { watch: true, signal: stopping.signal })
      return async () => {
        stopping.abort()
        await running
      }
    },
    async [Symbol.asyncDispose]() {
      await host.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
