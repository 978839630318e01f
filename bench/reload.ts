import { Agent } from 'node:http'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { showEdit, todoAction, todoYaml, type Editable } from '../test/support/dev-edits.ts'
import { startDev } from '../test/support/dev-session.ts'
import type { Held } from '../test/support/held.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { startHotHook } from './hot-hook.ts'
import {
  bigActions,
  bigRoutes,
  makeBigProject,
  makeDemo,
  makeSharingProject,
  sharedFile,
  sharingActions,
  type BenchProject,
} from './projects.ts'
import { scaled } from './scale.ts'
import { median, quantile } from './statistics.ts'

const edits = scaled(40)
const bigEdits = scaled(20)
const warmUp = scaled(4)
const restMs = 60
const saves = scaled(500, 5)

/** Measures the time from writing a file to the first response that shows it. */
export async function measureReload(): Promise<Figure[]> {
  return [...(await measureDemo()), ...(await measureBig()), ...(await measureSharing())]
}

async function measureDemo(): Promise<Figure[]> {
  await using project = await makeDemo()
  await using dev = await startDev(project.folder)
  await using peer = await startHotHook()
  const kinds = [todoAction(project.folder, dev.port), ...(peer === undefined ? [] : [peer.controller])]
  const [action = [], controller = []] = await editByTurns(kinds, edits)
  const [yaml = []] = await editByTurns([todoYaml(project.folder, dev.port)], edits)
  const ms = median(action)
  return [
    reached('an action of the demo, to its first response', action, 25),
    peer === undefined
      ? beside('  a controller by hot-hook', 'not at the registry')
      : beside(
          '  a controller by hot-hook; the action beside it',
          { value: median(controller), unit: 'ms' },
          ms / median(controller),
        ),
    reached("a route's YAML of the demo", yaml, 60),
  ]
}

async function measureBig(): Promise<Figure[]> {
  await using project: BenchProject = await makeBigProject()
  await using dev = await startDev(project.folder)
  const kinds = [todoAction(project.folder, dev.port), todoYaml(project.folder, dev.port)]
  const [action = [], yaml = []] = await editByTurns(kinds, bigEdits)
  const size = `${bigRoutes} routes and ${bigActions} actions`
  return [reached(`an action among ${size}`, action, 60), reached(`a route's YAML among ${size}`, yaml, 150)]
}

/** A file that all actions import: a save changes them all. */
async function measureSharing(): Promise<Figure[]> {
  await using project: BenchProject = await makeSharingProject()
  await using dev = await startDev(project.folder)
  const [times = []] = await editByTurns([sharedEditable(project, dev.port)], bigEdits)
  return [reached(`a file that ${sharingActions} actions import`, times, 500)]
}

function sharedEditable({ folder }: BenchProject, port: number): Editable {
  return {
    port,
    file: path.join(folder, sharedFile),
    path: `/sharing/${sharingActions - 1}`,
    change: (text, edit) => text.replace(/edit = \d+/, `edit = ${edit}`),
    read: (answer) => answer['edit'],
  }
}

/** The memory of `dev` while a file that all actions import is saved again and again. Takes ten minutes. */
export async function measureSaves(): Promise<Figure[]> {
  await using project: BenchProject = await makeSharingProject()
  await using dev = await startDev(project.folder)
  const shared = sharedEditable(project, dev.port)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const held: Held[] = []
  const times: number[] = []
  for (let edit = 100; edit < 100 + saves; edit++) {
    times.push(await showEdit(shared, edit, agent))
    if ((edit - 99) % (saves / 5) === 0) held.push(await dev.held())
  }
  agent.destroy()
  const toMb = (bytes: number) => Math.round(bytes / 2 ** 20)
  const [first, last] = [held[0]!, held.at(-1)!]
  const what = `${saves} saves of a file that ${sharingActions} actions import`
  return [
    atMost(
      `${what}: resident memory after the last, relative to a fifth of them`,
      { value: last.rssBytes / first.rssBytes, unit: '' },
      1.2,
    ),
    beside('  heap after each fifth', `${held.map((one) => toMb(one.heapBytes)).join(', ')} MB`),
    beside('  resident memory after each fifth', `${held.map((one) => toMb(one.rssBytes)).join(', ')} MB`),
    beside('  the median save', { value: median(times), unit: 'ms' }),
  ]
}

function reached(what: string, times: readonly number[], limit: number): Figure {
  const row = atMost(what, { value: median(times), unit: 'ms' }, limit)
  return { ...row, what: `${what} (slowest ${quantile(times, 1).toFixed(0)} ms)` }
}

/**
 * Alternates edits, so that other load affects them equally.
 * @returns the times of each
 */
async function editByTurns(kinds: readonly Editable[], count: number): Promise<number[][]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[][] = kinds.map(() => [])
  for (let edit = 100; edit < 100 + warmUp + count; edit++) {
    for (const [index, kind] of kinds.entries()) {
      const ms = await showEdit(kind, edit, agent)
      if (edit >= 100 + warmUp) times[index]!.push(ms)
      await pause(restMs)
    }
  }
  agent.destroy()
  return times
}
