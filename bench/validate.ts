import { startCli } from '../test/support/cli.ts'
import { atMost, type Figure } from './goal.ts'
import { bigRoutes, makeBigProject, makeDemo } from './projects.ts'
import { scaled } from './scale.ts'
import { median } from './statistics.ts'

const rounds = scaled(7)

/** Measures `waypost validate`, from the shell to its end. */
export async function measureValidate(): Promise<Figure[]> {
  await using demo = await makeDemo()
  await using big = await makeBigProject()
  const times: readonly [number[], number[]] = [[], []]
  for (let round = -1; round < rounds; round++) {
    for (const [index, { folder }] of [demo, big].entries()) {
      const seconds = await run(folder)
      if (round >= 0) times[index]!.push(seconds) // with files in the cache, as in daily work
    }
  }
  return [
    atMost('validate the demo', { value: median(times[0]), unit: 's' }, 0.4),
    atMost(`validate ${bigRoutes} routes`, { value: median(times[1]), unit: 's' }, 1.5),
  ]
}

async function run(cwd: string): Promise<number> {
  const began = performance.now()
  const { code, stdout, stderr } = await startCli(['validate'], { cwd }).ended
  if (code !== 0) throw new Error(`validate ended with ${code}\n${stdout}${stderr}`)
  return (performance.now() - began) / 1000
}
