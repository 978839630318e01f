import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { editHeader, judgeTodoList, showEdit, todoAction, todoYaml } from '../support/dev-edits.ts'
import { isLong } from '../support/forms.ts'
import { listMore } from '../support/held.ts'
import { startDev, type DevSession } from '../support/dev-session.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { startLoad, type LoadAnswer } from '../support/steady-load.ts'
import { until } from '../support/until.ts'

const reloads = isLong ? 50 : 4
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

  /** Edits the action and the YAML of the list in turns, each as soon as the previous one is served. */
  async function edits(count: number): Promise<void> {
    const kinds = [todoAction(project.folder, dev.port), todoYaml(project.folder, dev.port)]
    for (let done = 0; done < count; done++) {
      await showEdit(kinds[done % kinds.length]!, edit++, agent)
      await pause(25)
    }
  }

  test('under load fail no request, and none sees old code once the watcher has fired', async () => {
    let newest = 0
    const judge = (answer: LoadAnswer) => {
      newest = Math.max(newest, Number(answer.headers[editHeader]))
      return judgeTodoList(answer)
    }
    const load = startLoad({
      port: dev.port,
      path: '/todo',
      perSecond: isLong ? 100 : 40,
      newConnectionEach: 20,
      judge,
    })
    await edits(reloads)
    const { sent, failures } = await load.stop()
    assert.deepEqual(failures, [], `of ${sent} requests`)
    assert.ok(sent > reloads, `only ${sent} requests were sent`)
    assert.ok(newest >= edit - 2, `only edit ${newest} of ${edit - 1} was reported`)
  })

  test('leave no handle', async () => {
    const first = await dev.held()
    await edits(reloads)
    // Leaves time for timers and closing resources.
    let more: readonly string[] = []
    const isAsBefore = async () => (more = listMore(first, await dev.held())).length === 0
    await until('as much is held as before', isAsBefore).catch(() => assert.deepEqual(more, []))
  })
})
