import { sql } from 'kysely'
import type { TimeForm } from '../../contract/index.ts'
import type { Column, Table } from './introspect.ts'
import type { AnyDatabase } from './migration-table.ts'

// SQLite has no type for times: each program stores them in its own form. Prisma writes integers, Rails, Django, TypeORM
// and CURRENT_TIMESTAMP texts with a blank, others Unix seconds or Julian days.

/** A form of times, or `canonical` for that of Waypost: `2026-01-31T12:00:00.000Z`, with microseconds if it has any. */
export type FoundForm = TimeForm | 'canonical'

/** Returns the form of the times in each column that other programs may have written, by table and column. */
export async function loadTimeForms(
  db: AnyDatabase,
  tables: readonly Table[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, FoundForm>>> {
  const found: { readonly table: string; readonly column: Column; readonly form: FoundForm | undefined }[] = []
  for (const { name: table, columns } of tables)
    for (const column of columns.filter(({ type }) => timeTypes.has(type)))
      found.push({ table, column, form: await loadForm(db, table, column) })
  const isUsual = (form: FoundForm) => form !== 'mixed' && form !== 'YYYY-MM-DD'
  const usual = mostFrequent(
    found.flatMap(({ column, form }) => (form !== undefined && column.type !== 'date' && isUsual(form) ? [form] : [])),
  )
  const complete = found.map(({ table, column, form }) => {
    // Without rows, another column of the same program tells more than the default: Prisma never uses it.
    const unknown = column.type === 'date' ? 'YYYY-MM-DD' : (usual ?? (column.isNow ? formOfNow : 'canonical'))
    return { table, name: column.name, form: form ?? unknown }
  })
  return new Map(
    [...Map.groupBy(complete, ({ table }) => table)].map(([table, of]) => [
      table,
      new Map(of.map(({ name, form }) => [name, form])),
    ]),
  )
}

/** What `CURRENT_TIMESTAMP` and `datetime('now')` return. */
export const formOfNow: TimeForm = 'YYYY-MM-DD HH:MM:SS'

/** Declared types of times, except that of Waypost's own migrations. */
const timeTypes: ReadonlySet<string> = new Set(['timestamp', 'timestamptz', 'datetime', 'date'])

interface Shape {
  readonly kind: 'date' | 'text' | 'integer' | 'julian' | 'other'
  readonly separator: string
  readonly zone: string
  readonly digits: number
  readonly largest: number
}

const digit = '[0-9]'
const datePattern = `${digit.repeat(4)}-${digit.repeat(2)}-${digit.repeat(2)}`
const timePattern = `${datePattern}[ T]${digit.repeat(2)}:${digit.repeat(2)}:${digit.repeat(2)}`
/** As milliseconds in 1973, as seconds in the year 5138. */
const leastMilliseconds = 100_000_000_000

async function loadForm(db: AnyDatabase, table: string, { name }: Column): Promise<FoundForm | undefined> {
  const value = sql.ref(name)
  const rest = sql`substr(${value}, 20)`
  const query = sql<Shape>`
    select kind, separator, zone,
      case when zone = '?' or rest not like '.%' then 0 else length(rest) - length(zone) - 1 end as digits,
      cast(max(size) as integer) as largest
    from (
      select case typeof(${value})
          when 'integer' then 'integer'
          when 'real' then case when ${value} between 1721060 and 5373484 then 'julian' else 'other' end
          when 'text' then case when ${value} glob ${datePattern} then 'date' when ${value} glob ${`${timePattern}*`} then 'text' else 'other' end
          else 'other' end as kind,
        substr(${value}, 11, 1) as separator, ${rest} as rest,
        case when ${rest} glob ${'*[^0-9.]*'} then
          case when ${rest} like '%Z' then 'Z' when ${rest} like '%+00:00' then '+00:00' else '?' end else '' end as zone,
        case when typeof(${value}) = 'integer' then abs(${value}) else 0 end as size
      from ${sql.table(table)} where ${value} is not null
    ) group by 1, 2, 3, 4`
  const { rows } = await query.execute(db)
  if (rows.length === 0) return undefined
  return formOf(rows)
}

function formOf(rows: readonly Shape[]): FoundForm {
  const [{ kind, separator, zone }] = rows as readonly [Shape, ...Shape[]]
  const isUniform = rows.every((one) => one.kind === kind)
  if (isUniform && kind === 'integer')
    return rows.some(({ largest }) => largest >= leastMilliseconds) ? 'milliseconds' : 'seconds'
  if (isUniform && kind === 'julian') return 'julian'
  if (isUniform && kind === 'date') return 'YYYY-MM-DD'
  const isText = isUniform && kind === 'text'
  if (!isText || zone === '?' || rows.some((one) => one.separator !== separator || one.zone !== zone)) return 'mixed'
  const digits = rows.map((one) => one.digits)
  if (separator === 'T' && zone === 'Z' && digits.every((count) => count === 3 || count === 6)) return 'canonical'
  const [first] = digits
  const isFixed = digits.length === 1 && [0, 3, 6].includes(first!)
  if (!isFixed && zone !== '') return 'mixed'
  const fraction = isFixed ? (first === 0 ? '' : `.${'S'.repeat(first!)}`) : '[.S]'
  return `YYYY-MM-DD${separator}HH:MM:SS${fraction}${zone}` as TimeForm
}

function mostFrequent(forms: readonly FoundForm[]): FoundForm | undefined {
  const counted = [...Map.groupBy(forms, (form) => form)].toSorted(([, a], [, b]) => b.length - a.length)
  return counted[0]?.[0]
}
