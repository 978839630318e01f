import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Editable } from '../test/support/dev-edits.ts'

const version = '1.0.0'

/** A controller that AdonisJS's hot-hook reloads. */
export interface HotHook extends AsyncDisposable {
  readonly controller: Editable
}

const server = `import { createServer } from 'node:http'
const server = createServer(async (request, response) => {
  const { default: List } = await import('./controllers/list.ts')
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(await new List().handle()))
})
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
`
const controller = `const itemsPerPage = 16

export default class List {
  async handle(): Promise<object> {
    return { totalResults: 0, startIndex: 0, itemsPerPage, entry: [] }
  }
}
`

/**
 * Installs hot-hook into a new folder and starts a server that imports a controller for each request, as AdonisJS does.
 * @returns undefined if the registry does not provide it
 */
export async function startHotHook(): Promise<HotHook | undefined> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-hot-hook-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  const manifest = { type: 'module', hotHook: { boundaries: ['./controllers/**/*.ts'] } }
  await writeFile(path.join(folder, 'package.json'), JSON.stringify(manifest))
  if (!(await install(folder))) {
    await remove()
    return undefined
  }
  await mkdir(path.join(folder, 'controllers'))
  const file = path.join(folder, 'controllers/list.ts')
  await writeFile(file, controller)
  await writeFile(path.join(folder, 'server.js'), server)
  const child = fork('server.js', {
    cwd: folder,
    execArgv: ['--import=hot-hook/register', '--disable-warning=DEP0205'],
  })
  const port = await nextPort(child)
  return {
    controller: {
      port,
      file,
      path: '/',
      change: (text, edit) => text.replace(/itemsPerPage = \d+/, `itemsPerPage = ${edit}`),
      read: (answer) => answer['itemsPerPage'],
    },
    async [Symbol.asyncDispose]() {
      child.kill()
      await once(child, 'exit')
      await remove()
    },
  }
}

async function install(folder: string): Promise<boolean> {
  const words = ['install', `hot-hook@${version}`, '--no-save', '--no-audit', '--no-fund', '--prefix', folder]
  const child = spawn('npm', words, { cwd: folder, stdio: 'ignore', shell: process.platform === 'win32' })
  const code = await new Promise<number | null>((resolve) =>
    child.once('error', () => resolve(1)).once('exit', resolve),
  )
  return code === 0
}

/** hot-hook sends its own messages over the same channel. */
async function nextPort(child: ReturnType<typeof fork>): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('message', (message) => typeof message === 'number' && resolve(message))
    child.once('exit', () => reject(new Error('The server of hot-hook did not start')))
  })
}
