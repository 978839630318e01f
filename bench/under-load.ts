import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { judgeTodoList, showEdit, todoAction, todoYaml } from '../test/support/dev-edits.ts'
import { startDev } from '../test/support/dev-session.ts'
import { listMore } from '../test/support/held.ts'
import { startLoad } from '../test/support/steady-load.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { makeDemo } from './projects.ts'
import { scaled } from './scale.ts'
import { median, quantile } from './statistics.ts'

const perSecond = scaled(500, 50)
const loadedReloads = scaled(100, 2)
const quietReloads = scaled(200, 2)
const restMs = 30

/** Measures the effect of 100 reloads on concurrent requests. */
export async function measureUnderLoad(): Promise<Figure[]> {
  await using reloading = await openReloading()
  await reloading.reload(scaled(10))
  const load = startLoad({
    port: reloading.port,
    path: '/todo',
    perSecond,
    newConnectionEach: 20,
    judge: judgeTodoList,
  })
  await reloading.reload(loadedReloads)
  const { sent, failures, latenciesMs } = await load.stop()
  for (const failure of new Set(failures)) process.stderr.write(`failed: ${failure}\n`)
  const at = (part: number) => quantile(latenciesMs, part).toFixed(0)
  return [
    atMost(
      `failed of ${sent} requests, ${perSecond}/s over ${loadedReloads} reloads`,
      { value: failures.length, unit: '' },
      0,
    ),
    beside('  latency p50, p99, largest', `${median(latenciesMs).toFixed(1)}, ${at(0.99)}, ${at(1)} ms`),
  ]
}

/** Measures what 200 reloads leave in the process of `dev`. */
export async function measureLeaks(): Promise<Figure[]> {
  await using reloading = await openReloading()
  await reloading.reload(scaled(20))
  const before = await reloading.held()
  await reloading.reload(quietReloads)
  await pause(scaled(3000, 10))
  const after = await reloading.held()
  const more = listMore(before, after)
  for (const line of more) process.stderr.write(`more is held: ${line}\n`)
  const grownKb = (after.heapBytes - before.heapBytes) / 1024
  return [
    atMost(`heap per reload, after ${quietReloads} reloads`, { value: grownKb / quietReloads, unit: 'KB' }, 150),
    beside('  heap before and after', `${toMb(before.heapBytes)} → ${toMb(after.heapBytes)} MB`),
    atMost('kinds of handles that there are more of', { value: more.length, unit: '' }, 0),
  ]
}

const toMb = (bytes: number) => (bytes / 1024 / 1024).toFixed(1)

/** Starts `dev` on the demo, whose action and YAML are edited in turns. */
async function openReloading() {
  await using opened = new AsyncDisposableStack()
  const project = opened.use(await makeDemo())
  const dev = opened.use(await startDev(project.folder))
  const agent = opened.adopt(new Agent({ keepAlive: true, maxSockets: 1 }), (one) => one.destroy())
  const kinds = [todoAction(project.folder, dev.port), todoYaml(project.folder, dev.port)]
  let edit = 100
  const all = opened.move()
  return {
    port: dev.port,
    held: dev.held,
    async reload(count: number): Promise<void> {
      for (let done = 0; done < count; done++) {
        await showEdit(kinds[done % kinds.length]!, edit++, agent)
        await pause(restMs)
      }
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
