import { parseDocument } from 'yaml'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { SystemDraft } from '../src/backend/index.ts'
import { saveChange } from '../src/backend/draft/save-changes.ts'
import { planRequested } from '../src/backend/draft/plan-requested.ts'
import type { Texts } from '../src/definition/index.ts'
import { openHost } from '../src/host/index.ts'
import { activateRelease } from '../src/release/index.ts'
import { copySystem } from '../test/support/migrated.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { scaled } from './scale.ts'
import { median, quantile } from './statistics.ts'

const routes = scaled(500, 20)
const edits = scaled(40)
const warmUp = scaled(5)

/** Measures edits of the draft of a server, whose definition has many routes over tables, in a file for each. */
export async function measureDraft(): Promise<Figure[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-bench-draft-'))
  const variables = { WAYPOST_SYSTEM_URL: 'sqlite:system.db' }
  await copySystem(variables.WAYPOST_SYSTEM_URL, folder)
  const host = await openHost({ folder, variables, disposable: true })
  const draft = new SystemDraft(host, () => 'Bench')
  const by = { id: 'ann', name: 'ann' }
  const times: Record<'check' | 'save' | 'state' | 'yaml', number[]> = { check: [], save: [], state: [], yaml: [] }
  const cpu: typeof times = { check: [], save: [], state: [], yaml: [] }
  try {
    const texts = makeTexts()
    const built = await draft.link(await draft.load(texts))
    const files = [...texts].map(([file, content]) => ({ path: file, content }))
    await activateRelease(host.system, built, { by: 'bench', files })
    const measure = async (name: keyof typeof times, index: number, work: () => Promise<unknown>) => {
      const [began, before] = [performance.now(), process.cpuUsage()]
      await work()
      const { user, system } = process.cpuUsage(before)
      if (index < 0) return
      times[name].push(performance.now() - began)
      cpu[name].push((user + system) / 1000)
    }
    for (let index = -warmUp; index < edits; index++) {
      const number = (index + warmUp) % (routes / 2)
      const file = `resources/routes/${number}.yml`
      const text = `${texts.get(file)!}# ${index}\n`
      await measure('check', index, () =>
        draft.check([{ file, text: text.replace('GET: {', 'GET: { description: Lists,') }]),
      )
      const at = `/routes/~1row~1${number}/methods/GET/description`
      const plan = { edits: [{ at, value: `Lists ${index}` }] }
      await measure('save', index, () =>
        saveChange(
          draft,
          async (state) => {
            const planned = await planRequested(draft, state, plan)
            if ('conflicts' in planned) throw new Error('Nobody else edits')
            return planned
          },
          { by },
        ),
      )
      await measure('yaml', index, async () => [...texts.values()].map((one) => parseDocument(one).toJS() as unknown))
      await measure('state', index, async () => [await draft.readState(), await draft.status()])
    }
  } finally {
    draft.close()
    await host.close()
    await rm(folder, { recursive: true })
  }
  const row = (what: string, found: readonly number[]) => `${what} (slowest ${quantile(found, 1).toFixed(0)} ms)`
  return [
    atMost(
      row(`a check of the draft of a server after an edit, ${routes} routes`, times.check),
      { value: median(times.check), unit: 'ms' },
      50,
    ),
    beside('  its processor time', { value: median(cpu.check), unit: 'ms' }),
    beside(
      '  yaml: processor time to parse all files; that of the check beside it',
      { value: median(cpu.yaml), unit: 'ms' },
      median(cpu.check) / median(cpu.yaml),
    ),
    beside(row('  a save, with its check', times.save), { value: median(times.save), unit: 'ms' }),
    beside(row('  the changes and problems after it', times.state), { value: median(times.state), unit: 'ms' }),
  ]
}

function makeTexts(): Texts {
  const texts = new Map<string, string>()
  let [included, actions, steps] = ['', '', '']
  for (let index = 0; index < routes / 2; index++) {
    for (const [name, below] of [
      [`${index}`, ''],
      [`${index}-row`, '/:id'],
    ] as const) {
      texts.set(
        `resources/routes/${name}.yml`,
        `scopes: [todo]\nmethods:\n  GET: { action: Row${index} }\n  ${below === '' ? 'POST' : 'PUT'}: { action: Row${index} }\n`,
      )
      included += `  /row/${index}${below}: !include resources/routes/${name}.yml\n`
    }
    actions += `  Row${index}: { class: sql-table, config: { table: app_row_${index}, columns: [id, title, status], write: [title, status] } }\n`
    steps += `- create_table: { app_row_${index}: { columns: { id: id, title: text(64), status: { type: integer, default: 1 } } } }\n`
  }
  texts.set('migrations/System/20261101-tables.yml', steps)
  texts.set('waypost.yml', `routes:\n${included}action:\n${actions}`)
  return texts
}
