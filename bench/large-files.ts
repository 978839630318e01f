import { loadDefinition } from '../src/definition/index.ts'
import { formatDiagnostics } from '../src/kit/index.ts'
import { largeFiles, manyFiles } from '../test/definition/large-files.ts'
import { makeProject } from '../test/definition/project.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { scaled } from './scale.ts'

const files = scaled(10_000, 50)

/** Measures the processor time for large or deep definitions of various forms. */
export async function measureLargeFiles(): Promise<Figure[]> {
  const seconds: [string, number][] = []
  for (const [name, [text]] of Object.entries(largeFiles).slice(0, scaled(Infinity)))
    seconds.push([name, await check({ 'waypost.yml': text })])
  const [slowest, value] = seconds.toSorted(([, a], [, b]) => b - a)[0]!
  const many = await check(manyFiles(files))
  return [
    atMost(`the slowest of ${seconds.length} large files, processor time`, { value, unit: 's' }, 2),
    beside('  which is', slowest),
    atMost(`${files} included files, processor time`, { value: many, unit: 's' }, 4),
  ]
}

/** @returns seconds of processor time */
async function check(files: Readonly<Record<string, string>>): Promise<number> {
  using project = makeProject({ 'a.ts': '', ...files })
  const began = process.cpuUsage()
  const { diagnostics } = await loadDefinition(project.root)
  formatDiagnostics(diagnostics, { colour: true, width: 80 })
  const { user, system } = process.cpuUsage(began)
  return (user + system) / 1e6
}
