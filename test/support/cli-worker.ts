// Runs commands one after another in one process, which loads and compiles them once. Each command gets the folder,
// environment, arguments and standard input of its own process. Arguments: the checkout; a module that launches commands and
// the folder of the commands, both from sources; by default the built command line.
import { writeSync } from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import type { launch as Launch } from '../../bin/cli/launch.ts'
import { endMark, type Order } from './cli.ts'

const root = process.argv[2]!
const launcher = path.join(root, 'bin/run.js')
const [module = path.join(root, 'dist/bin/cli/launch.js'), commands] = process.argv.slice(3)
const options = commands === undefined ? { root } : { root: commands, sources: true }
const { launch } = (await import(pathToFileURL(module).href)) as { launch: typeof Launch }

// The launcher ends its process after a command, but this process must continue. Its calls have no code and use
// `exitCode`.
const end = process.exit.bind(process)
process.exit = ((code?: number) => (code === undefined ? undefined : end(code))) as typeof process.exit
process.once('disconnect', () => end())

process.on('message', async ({ words, cwd, env, input }: Order) => {
  process.chdir(cwd)
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
  process.argv = [process.execPath, launcher, ...words]
  process.exitCode = undefined
  Object.defineProperty(process, 'stdin', {
    value: Readable.from(input === '' ? [] : [Buffer.from(input)]),
    configurable: true,
  })
  await launch(words, options)
  const mark = endMark(process.exitCode ?? 0)
  process.chdir('/') // so that the folder can be removed
  writeSync(1, mark)
  writeSync(2, mark)
})
