import path from 'node:path'
import { readEnvironment, variable } from '../kit/index.ts'
import {
  formatCoverage,
  joinCoverage,
  openContract,
  writeCoverageRecord,
  type Contract,
  type CoverageRecord,
  type RequestExchange,
} from '../project/index.ts'

/** Notes what the tests of this process touch. */
export interface CoverageNotes {
  exchange(exchange: RequestExchange): void
  /** Notes an event or a cronjob. */
  note(kind: 'event' | 'cronjob', name: string): void
}

/** By the folder of the project. */
const records = new Map<string, { readonly contract: Contract; readonly hits: Record<string, number> }>()
let target: string | undefined

/**
 * Starts to note what tests touch; once per project, because a process may open several apps.
 * @param wanted `report` prints a report when this process ends; otherwise a folder for the record of this process
 */
export function noteCoverage(
  root: string,
  manifest: Parameters<typeof openContract>[1],
  wanted: string,
): CoverageNotes {
  if (target === undefined) process.once('exit', finish)
  target = wanted
  const record = records.get(root) ?? {
    contract: openContract(root, manifest),
    hits: Object.create(null) as Record<string, number>,
  }
  records.set(root, record)
  const hit = (name: string) => void (record.hits[name] = (record.hits[name] ?? 0) + 1)
  return {
    exchange: (exchange) => record.contract.judge(exchange).forEach(hit),
    note: (kind, name) => hit(`${kind} ${name}`),
  }
}

function finish(): void {
  const all = [...records.values()].map(({ contract, hits }): CoverageRecord => ({ points: contract.points, hits }))
  if (target !== 'report') return all.forEach((record) => writeCoverageRecord(path.resolve(target!), record))
  const coverage = joinCoverage(all)
  process.stdout.write(`${formatCoverage(coverage, process.stdout.columns ?? 100)}\n`)
  const min = Number(variable(readEnvironment(), 'WAYPOST_COVERAGE_MIN') ?? 0)
  if (coverage.percent >= min) return
  process.stderr.write(`Contract coverage is below ${min}%\n`)
  process.exitCode = 1
}
