import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { makeSystem, type NewSystem } from '../test/e2e/new-system.ts'
import { startServe } from '../test/e2e/serving.ts'
import { startCli } from '../test/support/cli.ts'
import { atMost, type Figure } from './goal.ts'
import { bigActions, bigRoutes, makeBigProject } from './projects.ts'
import { scaled } from './scale.ts'
import { median } from './statistics.ts'

const rounds = scaled(5)
const servers = 2

/** Measures `waypost deploy` to PostgreSQL, from the shell until all servers serve the release. */
export async function measureDeploy(): Promise<Figure[]> {
  await using project = await makeBigProject()
  const first: number[] = []
  const changed: number[] = []
  const unchanged: number[] = []
  for (let round = 0; round < rounds; round++) {
    await withServers(async (system) => {
      await deploy(project.folder, system, 'migrate')
      first.push(await deploy(project.folder, system))
      await editActions(project.folder, round)
      changed.push(await deploy(project.folder, system))
      unchanged.push(await deploy(project.folder, system))
    })
  }
  const size = `${bigRoutes} routes, until ${servers} servers serve them`
  return [
    atMost(`deploy of ${size}`, { value: median(first), unit: 's' }, 3),
    atMost(`  with all ${bigActions} actions changed`, { value: median(changed), unit: 's' }, 3),
    atMost('  unchanged', { value: median(unchanged), unit: 's' }, 1),
  ]
}

/** A new System each time, because stored artifacts are not stored again. */
async function withServers(work: (system: NewSystem) => Promise<void>): Promise<void> {
  const system = await makeSystem('postgresql')
  const running = []
  try {
    for (let server = 0; server < servers; server++) running.push(await startServe(system.folder))
    await work(system)
  } finally {
    for (const one of running) await one.stop()
    await system.close()
  }
}

async function editActions(folder: string, round: number): Promise<void> {
  for (let index = 0; index < bigActions - 5; index++) {
    const file = path.join(folder, `src/many/action-${index}.ts`)
    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replace(/many \d+.*'/, `many ${index}, ${round}'`))
  }
}

/** @returns seconds */
export async function deploy(
  cwd: string,
  { variables }: Pick<NewSystem, 'variables'>,
  words = 'deploy --yes',
): Promise<number> {
  const began = performance.now()
  const { code, stdout, stderr } = await startCli(words.split(' '), { cwd, env: variables }).ended
  if (code !== 0) throw new Error(`${words} ended with ${code}\n${stdout}${stderr}`)
  return (performance.now() - began) / 1000
}
