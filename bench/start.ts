import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { cleanEnvironment } from '../test/support/cli.ts'
import { makeProject } from '../test/support/project.ts'
import { send } from '../test/support/send.ts'
import { atMost, type Figure } from './goal.ts'
import { median } from './statistics.ts'

const launcher = path.join(import.meta.dirname, '../bin/run.js')
const versions = 20
const rounds = 5

/** What a developer waits for: a command that loads nothing, `dev` on a new project, the tests of the demo. */
export async function measureStart(): Promise<Figure[]> {
  const nothing: number[] = []
  const version: number[] = []
  for (let round = 0; round < versions; round++) {
    nothing.push(timeNode(['-e', '0']))
    version.push(timeNode([launcher, '--version']))
  }
  const first: number[] = []
  const tests: number[] = []
  for (let round = 0; round < rounds; round++) {
    first.push(await timeDev())
    tests.push(await timeTests())
  }
  return [
    atMost('--version, times a Node that does nothing', { value: median(version) / median(nothing), unit: '' }, 5),
    atMost('dev on a new project, to its first answer', { value: median(first), unit: 's' }, 2),
    atMost('the tests of the demo', { value: median(tests), unit: 's' }, 2),
  ]
}

/** @returns milliseconds */
function timeNode(args: readonly string[], cwd?: string): number {
  const start = performance.now()
  const { status } = spawnSync(process.execPath, args, { cwd, env: cleanEnvironment() })
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}`)
  return performance.now() - start
}

/** @returns seconds; the System is made on the way */
async function timeDev(): Promise<number> {
  const project = await makeProject()
  const began = performance.now()
  const dev = project.start('dev --port 0')
  const [, port] = await dev.waitFor(/API {7}http:\/\/localhost:(\d+)/)
  const { status } = await send(Number(port), { path: '/todo' })
  const passed = (performance.now() - began) / 1000
  await dev.stop()
  await project.remove()
  if (status !== 200) throw new Error(`dev answered ${status}`)
  return passed
}

/** @returns seconds */
async function timeTests(): Promise<number> {
  const project = await makeProject()
  const passed = timeNode(['--test'], project.folder) / 1000
  await project.remove()
  return passed
}
