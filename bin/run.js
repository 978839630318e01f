#!/usr/bin/env node
// Starts Waypost. Must parse on any Node since 12.17: an older one than Waypost needs is told so, or replaced by the
// Node that a source checkout pins. Loads nothing before it knows that it can go on.
import { spawn } from 'child_process'
import fs from 'fs'
import module from 'module'
import os from 'os'
import path from 'path'
import { fileURLToPath } from 'url'

const root = path.dirname(path.dirname(fs.realpathSync(fileURLToPath(import.meta.url))))
const { version, engines } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
const needed = engines.node.replace('>=', '')
const [first] = process.argv.slice(2)

if (isOlder(process.versions.node, needed)) runOnPinnedNode()
else if (first === '--version' || first === '-v') printVersion()
else launch()

function isOlder(found, wanted) {
  const [foundParts, wantedParts] = [found, wanted].map((text) => text.split('.').map(Number))
  for (let i = 0; i < wantedParts.length; i++) {
    if (foundParts[i] !== wantedParts[i]) return foundParts[i] < wantedParts[i]
  }
  return false
}

function runOnPinnedNode() {
  const pinned = path.join(root, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (!fs.existsSync(pinned) || fs.realpathSync(pinned) === fs.realpathSync(process.execPath)) return refuse()
  const child = spawn(pinned, process.execArgv.concat(process.argv.slice(1)), {
    // The channel carries nothing: when this process is killed it closes, and the child knows.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: Object.assign({}, process.env, { WAYPOST_RERUN: '1' }),
  })
  const forward = (signal) => {
    // A terminal sends its interrupt to the child as well; twice would mean "at once".
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, forward)
  child.on('error', refuse)
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code)
    for (const name of signals) process.removeListener(name, forward)
    process.kill(process.pid, signal)
  })
}

function refuse() {
  process.stderr.write(
    `Waypost needs Node ${needed} or newer; this is ${process.versions.node} (${process.execPath}).\n`,
  )
  process.exitCode = 1
}

function printVersion() {
  process.stdout.write(`waypost/${version} ${process.platform}-${process.arch} node-${process.version}\n`)
}

function launch() {
  const entry = path.join(root, 'dist/bin/cli/launch.js')
  if (!fs.existsSync(entry)) {
    process.stderr.write('Waypost is not built: npm run build makes dist/.\n')
    process.exitCode = 1
    return
  }
  module.enableCompileCache()
  nameHomeAndShell()
  if (process.env.WAYPOST_RERUN !== undefined) endWithParent()
  void import('../dist/bin/cli/launch.js').then((cli) => cli.launch(process.argv.slice(2), { root }))
}

// In a container that runs as any user id, /etc/passwd has no entry for it, and oclif and its libraries end the process
// when they ask for the home folder or the shell.
function nameHomeAndShell() {
  if (!process.env.HOME) ask(os.homedir, () => (process.env.HOME = '/')) // as Docker sets it
  if (process.env.SHELL === undefined) ask(os.userInfo, () => (process.env.SHELL = 'sh'))
}

function ask(question, fail) {
  try {
    question()
  } catch (error) {
    fail(error)
  }
}

// Who runs the command kills the process that he started, which may be the older Node before this one.
function endWithParent() {
  delete process.env.WAYPOST_RERUN
  if (process.channel === undefined) return
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel.unref()
}
