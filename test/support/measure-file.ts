// Imported by the processes of bin/test.ts --slowest: records how long each test file took, and the CPU time of its
// process and its child processes.
import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { after, before } from 'node:test'

/** Linux clock ticks per second. */
const ticks = 100

export interface Measured {
  readonly file: string
  readonly seconds: number
  /** CPU seconds of the file's process, and of its child processes. */
  readonly own: number
  readonly children: number
}

type Reading = Omit<Measured, 'file'>

/** Measures the suite that imports a file, from its first hook to its last. */
export async function measureFile(file: string, report: string, importFile: () => Promise<unknown>): Promise<void> {
  let start = read()
  before(() => {
    start = read()
  })
  await importFile()
  after(() => append(report, file, start))
}

/** Measures the loading of all files of this process. Must be called before its first test. */
export function measureLoading(report: string): void {
  append(report, '(loading)', { seconds: 0, own: 0, children: 0 })
}

function append(report: string, file: string, start: Reading): void {
  const now = read()
  const measured: Measured = {
    file,
    seconds: now.seconds - start.seconds,
    own: now.own - start.own,
    children: now.children - start.children,
  }
  appendFileSync(report, `${JSON.stringify(measured)}\n`)
}

function read(): Reading {
  const { user, system } = process.cpuUsage()
  return { seconds: performance.now() / 1000, own: (user + system) / 1e6, children: readChildren() }
}

/** CPU seconds of child processes, ended or running. */
function readChildren(): number {
  const [self] = readStat(String(process.pid))
  return self === undefined ? 0 : readRunning() + self.ended / ticks
}

/** Returns the CPU seconds of running child processes; 0 if there is no `/proc` (proc_pid_stat(5), fields 4 and 14 to 17). */
export function readRunning(): number {
  try {
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    const stats = all.flatMap((pid) => readStat(pid))
    const total = (parent: number): number =>
      stats.filter((stat) => stat.parent === parent).reduce((sum, one) => sum + one.own + one.ended + total(one.pid), 0)
    return total(process.pid) / ticks
  } catch {
    return 0
  }
}

function readStat(pid: string): readonly { pid: number; parent: number; own: number; ended: number }[] {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ').map(Number)
    const [own, ended] = [fields[11]! + fields[12]!, fields[13]! + fields[14]!]
    return [{ pid: Number(pid), parent: fields[1]!, own, ended }]
  } catch {
    return [] // the process has ended
  }
}
