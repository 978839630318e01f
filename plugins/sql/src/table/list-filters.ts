import type { Context } from 'waypost'
import { assertMayEmbed } from './embed/embed-choice.ts'
import { parseAny } from './any-filter.ts'
import type { PossibleFilter, UsedFilter } from './list-conditions.ts'
import { nameFilter, type TablePlan } from './plan.ts'

/** The filters of a request. */
export interface GivenFilters {
  readonly filters: readonly UsedFilter[]
  /** Filters of which a row meets at least one. */
  readonly any: readonly UsedFilter[]
  /** The values of `any`. */
  readonly alternatives: readonly unknown[]
  /** What identifies the filters with their values. */
  readonly key: readonly unknown[]
}

type Query = Readonly<Record<string, unknown>>

const noFilters: GivenFilters = { filters: [], any: [], alternatives: [], key: [] }

/** Returns a function that reads the filters of a request. @throws a problem with status 400 or 403 */
export function makeFilterReader(plan: TablePlan): (query: Query, context: Context) => GivenFilters {
  const possible = listPossible(plan)
  const byName = new Map(possible.map((one) => [one.name, one]))
  return (query, context) => {
    const used = possible.filter(({ name }) => Object.hasOwn(query, name))
    const { any: text } = query
    const parsed = plan.list!.any && typeof text === 'string' ? parseAny(text, byName) : []
    if (typeof parsed === 'string') throw context.problem(400, parsed)
    if (used.length === 0 && parsed.length === 0) return noFilters
    for (const { embed } of [...used, ...parsed.map(({ filter }) => filter)])
      if (embed !== undefined) assertMayEmbed(embed, context)
    return {
      filters: used.map((one) => describeUse(one, query[one.name])),
      any: parsed.map(({ filter, value }, at) => ({ ...describeUse(filter, value), at })),
      alternatives: parsed.map(({ value }) => value),
      key: [...used.map(({ name }) => [name, [query[name]].flat()]), ...(parsed.length > 0 ? [['any', text]] : [])],
    }
  }
}

function listPossible({ list, embeds = [], types }: TablePlan): readonly PossibleFilter[] {
  const { filters, embedded = [] } = list!
  const own = Object.entries(filters).flatMap(([column, operators]) =>
    operators.map((operator) => ({ column, operator, name: nameFilter(column, operator), type: types[column]! })),
  )
  const others = embedded.map((one): PossibleFilter => {
    const embed = embeds.find(({ name }) => name === one.embed)!
    const { column } = one
    return { name: `${one.embed}.${column}`, column, operator: 'eq', type: embed.types[column]!, embed }
  })
  return [...own, ...others]
}

function describeUse({ name, column, operator, embed }: PossibleFilter, value: unknown): UsedFilter {
  const isList = Array.isArray(value) && value.length > 1
  return {
    name,
    column,
    operator,
    isList,
    isNull: operator === 'null' && value === true,
    ...(embed && { embed }),
  }
}
