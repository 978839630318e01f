import { randomUUID } from 'node:crypto'
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
  /** Notes an event, a listener or a cronjob. */
  note(kind: 'event' | 'listener' | 'cronjob', name: string): void
  /** Must be called when an app is closed: runners of tests may kill this process before its end. */
  save(): void
}

interface ProcessRecord {
  readonly name: string
  readonly contract: Contract
  readonly hits: Record<string, number>
}

/** By the folder of the project. */
const records = new Map<string, ProcessRecord>()
let isReported = false

/**
 * Starts to note what tests touch; once per project, because a process may open several apps.
 * @param wanted `report` prints a report when this process ends; otherwise a folder for the record of this process
 */
export function noteCoverage(
  root: string,
  manifest: Parameters<typeof openContract>[1],
  wanted: string,
): CoverageNotes {
  const known = records.get(root)
  const record = known ?? { name: randomUUID(), contract: openContract(root, manifest), hits: emptyHits() }
  records.set(root, record)
  if (wanted === 'report' && !isReported) {
    isReported = true
    process.once('exit', printReport)
  }
  const hit = (name: string) => void (record.hits[name] = (record.hits[name] ?? 0) + 1)
  return {
    exchange: (exchange) => record.contract.judge(exchange).forEach(hit),
    note: (kind, name) => hit(`${kind} ${name}`),
    save() {
      if (wanted !== 'report') writeCoverageRecord(path.resolve(wanted), record.name, toRecord(record))
    },
  }
}

function emptyHits(): Record<string, number> {
  return Object.create(null) as Record<string, number>
}

function toRecord({ contract, hits }: ProcessRecord): CoverageRecord {
  return { points: contract.points, hits }
}

function printReport(): void {
  const coverage = joinCoverage([...records.values()].map(toRecord))
  process.stdout.write(`${formatCoverage(coverage, process.stdout.columns ?? 100)}\n`)
  const min = Number(variable(readEnvironment(), 'WAYPOST_COVERAGE_MIN') ?? 0)
  if (coverage.percent >= min) return
  process.stderr.write(`Less than ${min}% of the definition is covered by tests\n`)
  process.exitCode = 1
}
