import type { ActionHttp, JsonSchema } from 'waypost'
import type { SearchPlan } from '../plan.ts'
import { checkColumn, type TableUse } from '../table-use.ts'
import type { Writing } from '../writing.ts'

export const maxSearchLength = 200
/** Each may select many rows. */
export const maxSearchTerms = 10
export const maxRanked = 100

const letters = 'abcd'
const simple = 'simple'

/** Checks in which columns callers can search for words: those of the table's search that they can read. */
export function resolveSearch({ config, table, report }: TableUse, { columns }: Writing): SearchPlan | undefined {
  const { search: given } = config
  if (given === undefined) return undefined
  const { search } = table
  const step = `add_search: { ${config.table}: [${given.join(', ')}] }`
  let isPossible = true
  const refuse = (at: string, message: string, hint: string) => {
    isPossible = false
    report(at, message, { hint })
  }
  for (const [index, name] of given.entries()) {
    const at = `/search/${index}`
    if (!checkColumn(name, table, report, at)) isPossible = false
    else if (!columns.includes(name)) refuse(at, `"${name}" cannot be searched: it is not in "columns"`, 'Remove it')
    else if (search !== undefined && !search.columns.includes(name))
      refuse(at, `The search of "${config.table}" does not contain "${name}"`, `Replace it in a migration: ${step}`)
  }
  if (search === undefined)
    refuse('/search', `The table "${config.table}" has no search`, `Add one in a migration: ${step}`)
  if (search === undefined || !isPossible) return undefined
  const { columns: all, configuration = simple } = search
  const chosen = letters
    .split('')
    .filter((_, index) => all[index] !== undefined && given.includes(all[index]))
    .join('')
  return { configuration, ...(chosen.length < all.length && { letters: chosen }) }
}

/** The query parameters of a search. */
export const searchParameters: Readonly<Record<string, JsonSchema>> = {
  q: {
    type: 'string',
    maxLength: maxSearchLength,
    description: `Rows with these words: \`word\`, \`begin*\`, \`"a phrase"\` and \`-not\`, at most ${maxSearchTerms}`,
  },
  rank: {
    type: 'boolean',
    description: `The best matches first, at most ${maxRanked}, instead of the order of the list. Only on PostgreSQL.`,
  },
}

/** Describes which columns of a list are searched and how, so that a plan shows when that changes. */
export function describeSearch({ config, table }: TableUse): NonNullable<ActionHttp['behavior']> {
  const { configuration = simple } = table.search ?? {}
  const language = configuration === simple ? '' : `, as the configuration "${configuration}" reads them`
  return Object.fromEntries(
    (config.search ?? []).map((name) => [`search ${name}`, `"q" finds words in "${name}"${language}.`]),
  )
}
