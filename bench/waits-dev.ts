import { readFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import path from 'node:path'
import { send } from '../test/support/send.ts'
import { showEdit, todoAction, todoYaml } from '../test/support/dev-edits.ts'
import { startDev } from '../test/support/dev-session.ts'
import { makeCall } from './administered-server.ts'
import type { Figure } from './goal.ts'
import { bigRoutes, makeBigProject } from './projects.ts'
import { openMeter, turnVariables } from './wait-meter.ts'

const editMs = 300

/** Measures how long other requests wait while files of a large project are saved in `dev`, by an editor or its backend. */
export async function measureDevWaits(): Promise<Figure[]> {
  await using project = await makeBigProject()
  const variables = turnVariables()
  await using dev = await startDev(project.folder, variables)
  await using meter = openMeter(dev.port, variables)
  const { name, password } = JSON.parse(
    await readFile(path.join(project.folder, '.waypost/dev.json'), 'utf8'),
  ) as Readonly<Record<string, string>>
  const login = await send(dev.port, { method: 'POST', path: '/consumer/login', body: { username: name, password } })
  const call = makeCall(dev.port, (login.body as { token: string }).token)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const size = `dev, ${bigRoutes} routes`
  const yaml = todoYaml(project.folder, dev.port)
  const action = todoAction(project.folder, dev.port)
  let edit = 100
  const file = 'resources/routes/many/route-7.yml'
  const text = await readFile(path.join(project.folder, file), 'utf8')
  try {
    return [
      ...(await meter.during(`${size}: a saved action`, () => showEdit(action, (edit += 1), agent))),
      ...(await meter.during(`${size}: a saved file of YAML`, () => showEdit(yaml, (edit += 1), agent))),
      ...(await meter.during(
        `${size}: PUT /draft/file`,
        (round) => call(`PUT /draft/file?path=${file}`, { text: `${text}# ${round}\n` }),
        editMs,
      )),
      ...(await meter.during(
        `${size}: PUT /draft/value`,
        (round) =>
          call('PUT /draft/value?at=/routes/~1many~13~1:id/methods/GET/description', { value: `Value ${round}` }),
        editMs,
      )),
      ...(await meter.during(`${size}: GET /draft`, () => call('GET /draft'))),
      ...(await meter.during(`${size}: GET /draft/table`, () =>
        call('GET /draft/table?connection=System&table=app_todo'),
      )),
      ...(await meter.during(`${size}: GET /definition`, () => call('GET /release/draft/definition'))),
      ...(await meter.during(`${size}: GET /openapi.json`, () => send(dev.port, { path: '/openapi.json' }))),
      ...(await meter.during(`${size}: GET /docs`, () => send(dev.port, { path: '/docs' }))),
      ...(await meter.during(`${size}: statistics`, () => call('GET /statistics?by=hour'))),
    ]
  } finally {
    agent.destroy()
  }
}
