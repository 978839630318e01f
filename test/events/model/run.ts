// Runs the model until it finds something: node run.ts FIRST COUNT [--trace] [--faults=A,B] [--mutant=NAME]
// Exits with 1 if it has found something.
import { parseArgs } from 'node:util'
import type { Fault } from './lanes.ts'
import { mutate } from './mutants.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { trace: { type: 'boolean', default: false }, faults: { type: 'string' }, mutant: { type: 'string' } },
})
if (values.mutant !== undefined) mutate(values.mutant)
const { runModel } = await import('./lanes.ts')
const [first = 1, count = 1] = positionals.map(Number)
for (let seed = first; seed < first + count && process.exitCode === undefined; seed++) {
  const given = values.faults?.split(',') as Fault[] | undefined
  const { faults, problems, trace } = await runModel(seed, { isTraced: values.trace, faults: given })
  if (values.trace) process.stdout.write(`${trace.join('\n')}\n`)
  if (problems.length === 0) continue
  process.stdout.write(`seed ${seed} (${faults.join(', ')}): ${problems.join('\n  ')}\n`)
  process.exitCode = 1
}
