import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { editHeader, judgeTodoList, showEdit, todoAction, todoYaml } from '../support/dev-edits.ts'
import { listMore, type Held } from '../support/held.ts'
import { startDev, type DevSession } from '../support/dev-session.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { startLoad, type LoadAnswer } from '../support/steady-load.ts'

const reloads = 50
const mostBytesPerReload = 150 * 1024
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

describe('many reloads of dev', () => {
  let project: TestProject
  let dev: DevSession
  let edit = 100

  before(async () => {
    project = await makeProject()
    dev = await startDev(project.folder)
  })
  after(async () => {
    agent.destroy()
    await dev[Symbol.asyncDispose]()
    await project.remove()
  })

  /** Edits the action and the YAML of the list by turns, each as soon as the one before is served. */
  async function edits(count: number): Promise<void> {
    const kinds = [todoAction(project.folder, dev.port), todoYaml(project.folder, dev.port)]
    for (let done = 0; done < count; done++) {
      await showEdit(kinds[done % kinds.length]!, edit++, agent)
      await pause(25)
    }
  }

  test('write the types of the project within 100 ms of a save', async () => {
    const types = path.join(project.folder, '.waypost/types.d.ts')
    const times: number[] = []
    for (let round = 0; round < 9; round++) {
      const name = `filter${round}`
      const yaml = 'resources/routes/todo/collection.yml'
      const text = await project.read(yaml)
      const began = performance.now()
      await project.write(yaml, text.replace(/parameters:\n/, `parameters:\n      ${name}: { type: string }\n`))
      while (!(await readFile(types, 'utf8')).includes(name)) await pause(1)
      times.push(performance.now() - began)
      await pause(50)
    }
    const median = times.toSorted((a, b) => a - b)[4]!
    assert.ok(median <= 100, `${Math.round(median)} ms; all: ${times.map(Math.round).join(', ')}`)
  })

  test('under load fail no request, and none sees old code once the watcher has fired', async () => {
    let newest = 0
    const judge = (answer: LoadAnswer) => {
      newest = Math.max(newest, Number(answer.headers[editHeader]))
      return judgeTodoList(answer)
    }
    const load = startLoad({ port: dev.port, path: '/todo', perSecond: 500, newConnectionEach: 20, judge })
    await edits(reloads)
    const { sent, failures } = await load.stop()
    assert.deepEqual(failures, [], `of ${sent} requests`)
    assert.ok(sent > 500, `only ${sent} requests were sent`)
    assert.ok(newest >= edit - 2, `only edit ${newest} of ${edit - 1} was reported`)
  })

  test('leave no handle and little memory', async () => {
    const first = await dev.held()
    await edits(reloads)
    const { more, last } = await settle(first)
    assert.deepEqual(more, [])
    const grown = last.heapBytes - first.heapBytes
    assert.ok(grown < reloads * mostBytesPerReload, `the heap grew by ${Math.round(grown / 1024)} KB`)
  })

  /** What is held once timers and what is being closed have had their time, and of what there is more than before. */
  async function settle(first: Held): Promise<{ more: readonly string[]; last: Held }> {
    for (let round = 0; ; round++) {
      const last = await dev.held()
      const more = listMore(first, last)
      if (more.length === 0 || round >= 20) return { more, last }
      await pause(250)
    }
  }
})
