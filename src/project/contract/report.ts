import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pointKinds, type ContractPoint, type PointKind } from './contract-points.ts'

/** What one process of a test run has touched. */
export interface CoverageRecord {
  readonly points: readonly ContractPoint[]
  /** How often each point was touched, by its name. */
  readonly hits: Readonly<Record<string, number>>
}

/** What all processes of a test run have touched. */
export interface Coverage extends CoverageRecord {
  readonly touched: number
  /** Of 100; 100 if there is nothing to touch. */
  readonly percent: number
  readonly kinds: readonly { readonly kind: PointKind; readonly touched: number; readonly of: number }[]
  /** Points that no test has touched. Those of a method that was never called are left out, except for the method. */
  readonly missing: readonly (ContractPoint & { readonly more: number })[]
}

/** Writes a record, or replaces the one with the same name. */
export function writeCoverageRecord(folder: string, name: string, record: CoverageRecord): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, `${name}.json`), JSON.stringify(record))
}

export function readCoverageRecords(folder: string): readonly CoverageRecord[] {
  const files = globSync('*.json', { cwd: folder })
  return files.map((file) => JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as CoverageRecord)
}

/** Joins the records of a run. A point counts once, whichever process knew it. */
export function joinCoverage(records: readonly CoverageRecord[]): Coverage {
  const points = [...new Map(records.flatMap((record) => record.points.map((one) => [one.name, one]))).values()]
  const hits: Record<string, number> = Object.create(null) as Record<string, number>
  for (const record of records)
    for (const [name, count] of Object.entries(record.hits)) hits[name] = (hits[name] ?? 0) + count
  const isTouched = ({ name }: ContractPoint) => hits[name] !== undefined
  const touched = points.filter(isTouched).length
  const kinds = (Object.keys(pointKinds) as PointKind[]).map((kind) => {
    const own = points.filter((one) => one.kind === kind)
    return { kind, touched: own.filter(isTouched).length, of: own.length }
  })
  const isCalled = ({ method }: ContractPoint) => method === '' || hits[method] !== undefined
  const missing = points
    .filter((one) => !isTouched(one) && (one.kind === 'method' || isCalled(one)))
    .map((one) => {
      const more = one.kind === 'method' ? points.filter(({ method }) => method === one.method).length - 1 : 0
      return { ...one, more }
    })
  const percent = points.length === 0 ? 100 : (touched / points.length) * 100
  return { points, hits, touched, percent, kinds: kinds.filter(({ of }) => of > 0), missing }
}

/** Formats a report for people. @param width of the terminal */
export function formatCoverage({ points, touched, percent, kinds, missing }: Coverage, width: number): string {
  const label = Math.max(...kinds.map(({ kind }) => pointKinds[kind].length), 0)
  const rows = kinds.map((one) => {
    const count = `${one.touched} of ${one.of}`
    return `  ${pointKinds[one.kind].padEnd(label)}  ${count.padStart(12)}`
  })
  const groups = Map.groupBy(missing, ({ place }) => place.replace(/:\d+$/, ''))
  const lines = [...groups].flatMap(([file, own]) => [
    '',
    `  ${file}`,
    ...[...Map.groupBy(own, (one) => `${String(lineOf(one)).padStart(7)}  ${one.method || one.name}`)]
      .toSorted(([, [one]], [, [other]]) => lineOf(one!) - lineOf(other!))
      .flatMap(([start, some]) => wrapNames(start, some, width)),
  ])
  return [
    `Contract coverage  ${Math.floor(percent)}%  ${touched} of ${points.length}`,
    '',
    ...rows,
    ...(missing.length === 0 ? [] : ['', 'Not covered by any test', ...lines]),
    '',
  ].join('\n')
}

/** Writes the points of one place and method, as lines of limited width. */
function wrapNames(start: string, points: Coverage['missing'], width: number): readonly string[] {
  const names = points
    .filter(({ name, method }) => method !== '' && name !== method)
    .map(({ name, method }) => name.slice(method.length + 1))
  const more = points.find((one) => one.more > 0)?.more
  const lines = [`${start}${more === undefined ? '' : ` (and ${more} more)`}${names.length === 0 ? '' : ':'}`]
  for (const [index, name] of names.entries()) {
    const text = ` ${name}${index < names.length - 1 ? ',' : ''}`
    if (`${lines.at(-1)}${text}`.length > width) lines.push(`${' '.repeat(10)}${text}`)
    else lines.push(`${lines.pop()}${text}`)
  }
  return lines
}

function lineOf({ place }: ContractPoint): number {
  return Number(/:(\d+)$/.exec(place)?.[1] ?? 1)
}

/** Formats a report as lcov, for the lines of the definition: each point is a branch of its line. */
export function formatLcov(root: string, { points, hits }: Coverage): string {
  const files = Map.groupBy(points, ({ place }) => place.replace(/:\d+$/, ''))
  return [...files]
    .flatMap(([file, own]) => {
      const lines = [...Map.groupBy(own, lineOf)].toSorted(([one], [other]) => one - other)
      const counts = lines.map(([line, some]) => [line, Math.max(...some.map(({ name }) => hits[name] ?? 0))] as const)
      const branches = lines.flatMap(([line, some]) =>
        some.map(({ name }, index) => `BRDA:${line},0,${index},${hits[name] ?? 0}`),
      )
      return [
        'TN:',
        `SF:${path.join(root, file)}`,
        ...branches,
        `BRF:${own.length}`,
        `BRH:${own.filter(({ name }) => hits[name] !== undefined).length}`,
        ...counts.map(([line, count]) => `DA:${line},${count}`),
        `LF:${counts.length}`,
        `LH:${counts.filter(([, count]) => count > 0).length}`,
        'end_of_record',
      ]
    })
    .join('\n')
}
