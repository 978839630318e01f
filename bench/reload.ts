// From the write of a file to the first response that shows it, in `dev`: node bench/reload.ts [routes] [edits]
// Prints the median and the slowest of edits of an action and of a route's YAML, for the to-do demo by default or for a
// generated project of so many routes (one action for five of them).
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { Agent, get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findFreePort, runWaypost, startWaypost } from '../bin/demo/waypost.ts'

const routes = Number(process.argv[2] ?? 0)
const edits = Number(process.argv[3] ?? 30)
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

const home = await mkdtemp(path.join(tmpdir(), 'waypost-reload-'))
const folder = path.join(home, 'todo')
await runWaypost(home, ['init', 'todo', '--template', 'todo', '--yes', '--no-install'])
await mkdir(path.join(folder, 'node_modules'))
await symlink(path.dirname(import.meta.dirname), path.join(folder, 'node_modules', 'waypost'))
if (routes > 0) await addRoutes()
const port = await findFreePort()
const server = await startWaypost(folder, ['dev', '--no-deliver', '--port', String(port)])
try {
  const action = 'src/todo/collection.ts'
  await report(
    'an action',
    action,
    (text, edit) => text.replace(/itemsPerPage = \d+/, `itemsPerPage = ${edit}`),
    (body) => body['itemsPerPage'],
  )
  const yaml = 'resources/routes/todo/collection.yml'
  await report(
    "a route's YAML",
    yaml,
    (text, edit) => text.replace(/minimum: \d+, default: \d+/, `minimum: 0, default: ${edit}`),
    (body) => body['startIndex'],
  )
} finally {
  await server.stop()
  agent.destroy()
  await rm(home, { recursive: true, force: true })
}

type Change = (text: string, edit: number) => string
type Read = (body: Record<string, unknown>) => unknown

async function report(what: string, file: string, change: Change, read: Read): Promise<void> {
  const times: number[] = []
  for (let edit = 100; edit < 100 + edits; edit++) {
    times.push(await measure(path.join(folder, file), change, read, edit))
    await new Promise((resolve) => setTimeout(resolve, 60))
  }
  times.sort((a, b) => a - b)
  const median = times[Math.floor(times.length / 2)]!
  process.stdout.write(
    `${what.padEnd(16)} median ${median.toFixed(1)} ms, slowest ${times.at(-1)!.toFixed(1)} ms, ${times.length} edits\n`,
  )
}

async function measure(file: string, change: Change, read: Read, edit: number): Promise<number> {
  const text = change(await readFile(file, 'utf8'), edit)
  await writeFile(file, text)
  const began = performance.now()
  while (performance.now() - began < 5000) {
    if (read(await fetchList()) === edit) return performance.now() - began
  }
  throw new Error(`Edit ${edit} of ${file} did not show within 5 s`)
}

async function fetchList(): Promise<Record<string, unknown>> {
  const [response] = (await once(get({ port, host: '127.0.0.1', path: '/todo', agent }), 'response')) as [
    IncomingMessage,
  ]
  const parts: Buffer[] = []
  for await (const part of response) parts.push(part as Buffer)
  return JSON.parse(Buffer.concat(parts).toString('utf8')) as Record<string, unknown>
}

/** Routes in files of their own, five sharing an action, with parameters, a body and named schemas. */
async function addRoutes(): Promise<void> {
  await mkdir(path.join(folder, 'resources/routes/many'), { recursive: true })
  await mkdir(path.join(folder, 'src/many'), { recursive: true })
  const lines: string[] = []
  for (let index = 0; index < routes; index++) {
    const actionFile = `src/many/action-${Math.floor(index / 5)}.ts`
    if (index % 5 === 0) {
      await writeFile(
        path.join(folder, actionFile),
        `export default class Many${index} {\n  async handle() {\n    return { success: true, message: 'many ${index}' }\n  }\n}\n`,
      )
    }
    await writeFile(
      path.join(folder, `resources/routes/many/route-${index}.yml`),
      `scopes: [todo]\npath:\n  id: { type: integer }\nmethods:\n  GET:\n    public: true\n    response: Message\n    action: ${actionFile}\n`,
    )
    lines.push(`  /many/${index}/:id: !include resources/routes/many/route-${index}.yml`)
  }
  const file = path.join(folder, 'waypost.yml')
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace('routes:\n', `routes:\n${lines.join('\n')}\n`))
}
