import { fork } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { nodeOptions } from '/work/wt/jobs/src/jobs/listeners/run-process.ts'
import { loadActiveRelease } from '/work/wt/jobs/src/release/index.ts'
import { openTestProject } from '/work/wt/jobs/src/project/index.ts'
import { openTestHost } from '/work/wt/jobs/test/events/host.ts'
const { host, folder, close } = await openTestHost('sqlite')
await mkdir(path.join(folder, 'src'))
await writeFile(path.join(folder, 'waypost.yml'), `event: { acted: { private: true } }\nlistener: { act: { event: acted, action: src/act.js } }`)
await writeFile(path.join(folder, 'src/act.js'), 'export default class { async handle() {} }')
await (await openTestProject(folder)).install(host)
const { id: releaseId } = (await loadActiveRelease(host.system))!
const hook = process.argv[2] === 'hook' ? ['--import', '/tmp/jobs-hook.mjs'] : []
const semi = process.argv[3] ?? '4'
const cpu = async (pid: number) => { const f = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' '); return (Number(f[11]) + Number(f[12])) * 10 }
const mem = async (pid: number) => Number(/VmRSS:\s*(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
const child = fork('/work/wt/jobs/dist/src/jobs/listeners/listener-child.js', [], { cwd: folder, env: { ...host.environment }, execArgv: [...nodeOptions(512 * 2 ** 20).filter((o) => !o.includes('semi')), `--max-semi-space-size=${semi}`, ...hook], serialization: 'advanced' })
const answer = () => new Promise((resolve) => child.once('message', resolve))
child.send({ start: { folder, releaseId, logLevel: 'info' } }); await answer()
console.log('ready MB', await mem(child.pid!), 'cpu ms', await cpu(child.pid!))
let made = 0
const make = () => ({ run: { turn: 1, failures: 0, postponed: 0, lost: 0, dispatchedAt: 0, dueAt: 0, id: `run_${made++}`, listener: 'act', message: 'msg_1', event: 'acted', data: '{}' }, timeoutMs: 30000, once: false })
for (let round = 0; round < 4; round++) {
  const before = await cpu(child.pid!)
  for (let n = 0; n < 10000; n += 50) { child.send({ runs: JSON.stringify(Array.from({ length: 50 }, make)) }); await answer() }
  console.log('MB', await mem(child.pid!), 'us/run', (await cpu(child.pid!) - before) / 10)
}
const idle = await cpu(child.pid!)
await new Promise((r) => setTimeout(r, 10000))
console.log('idle cpu ms in 10 s', await cpu(child.pid!) - idle)
child.kill('SIGKILL')
const bare = fork('/work/wt/jobs/bench/bare-process.js', [], { execArgv: nodeOptions(512 * 2 ** 20), serialization: 'advanced' })
await new Promise((resolve) => bare.once('message', resolve))
console.log('bare MB', await mem(bare.pid!)); bare.kill('SIGKILL')
await close()
process.exit()
