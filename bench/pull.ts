import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { makeSystem, type NewSystem } from '../test/e2e/new-system.ts'
import { deploy } from './deploy.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { bigRoutes, makeBigProject } from './projects.ts'
import { scaled } from './scale.ts'
import { median } from './statistics.ts'

const rounds = scaled(7)
const run = promisify(execFile)

/** Measures `waypost pull`, from the shell to its end, beside Git and `yaml` with the same files. */
export async function measurePull(): Promise<Figure[]> {
  await using project = await makeBigProject()
  const system = await makeSystem('sqlite')
  const scratch = await mkdtemp(path.join(tmpdir(), 'waypost-bench-pull-'))
  try {
    await deploy(project.folder, inFolder(system), 'deploy --yes --migrate')
    const git = async (...words: string[]) => {
      await run('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@example.com', ...words], {
        cwd: project.folder,
      })
    }
    await git('init', '--quiet')
    await git('add', 'waypost.yml', 'resources')
    await git('commit', '--quiet', '--message', 'bench')
    await publishChange(project.folder, system)
    const times = { empty: [] as number[], changed: [] as number[], clone: [] as number[], yaml: [] as number[] }
    for (let round = -1; round < rounds; round++) {
      const at = (name: string) => path.join(scratch, `${name}${round}`)
      await cp(project.folder, at('changed'), { recursive: true, filter: (file) => !/\.(git|waypost)$/.test(file) })
      const [empty, changed] = [
        await deploy(system.folder.folder, system, `pull ${at('empty')} --yes`),
        await deploy(system.folder.folder, system, `pull ${at('changed')} --yes`),
      ]
      const clone = await measure(() => git('clone', '--quiet', '--no-local', project.folder, at('clone')))
      const yaml = await measure(() => parseAll(path.join(at('empty'), 'resources')))
      if (round < 0) continue
      for (const [name, value] of Object.entries({ empty, changed, clone, yaml }))
        times[name as keyof typeof times].push(value)
    }
    const pulled = median(times.empty)
    const peer = (found: readonly number[]) => [{ value: median(found), unit: 's' }, pulled / median(found)] as const
    return [
      atMost(`pull of ${bigRoutes} routes into an empty folder`, { value: pulled, unit: 's' }, 1),
      atMost('  into a folder, with one change', { value: median(times.changed), unit: 's' }, 1),
      beside('  git clone of the same files; pull into an empty folder beside it', ...peer(times.clone)),
      beside('  yaml: parse the same files in a new process; pull beside it', ...peer(times.yaml)),
    ]
  } finally {
    await rm(scratch, { recursive: true, force: true })
    await system.close()
  }
}

/** The embedded System, also for commands that run in another folder. */
function inFolder({ variables, folder }: NewSystem): Pick<NewSystem, 'variables'> {
  return { variables: { ...variables, WAYPOST_SYSTEM_URL: `sqlite:${path.join(folder.folder, 'system.db')}` } }
}

/** Activates a changed description as the backend does, and restores the folder. */
async function publishChange(folder: string, system: NewSystem): Promise<void> {
  const file = path.join(folder, 'resources/routes/many/route-5.yml')
  const text = await readFile(file, 'utf8')
  const { db } = system.host.system
  const activations = db.selectFrom('waypost_activation').select((column) => column.fn.max('number').as('last'))
  const { last } = await activations.executeTakeFirstOrThrow()
  await writeFile(file, text.replace('    public: true\n', '    public: true\n    description: Changed\n'))
  await deploy(folder, inFolder(system))
  await writeFile(file, text)
  await db
    .updateTable('waypost_activation')
    .set({ kind: 'backend', from_git: last })
    .where('number', '>', last)
    .execute()
}

async function measure(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1000
}

const parsing = `import { readdirSync, readFileSync } from 'node:fs'
import { parseDocument } from 'yaml'
for (const name of readdirSync(process.argv[1], { recursive: true }))
  if (name.endsWith('.yml')) parseDocument(readFileSync(process.argv[1] + '/' + name, 'utf8')).toJS()`

async function parseAll(folder: string): Promise<void> {
  const cwd = path.dirname(import.meta.dirname)
  await run(process.execPath, ['--input-type=module', '--eval', parsing, folder], { cwd })
}
