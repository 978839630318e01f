import { EditRefused, findValue, type Editing } from '../../definition/index.ts'
import { pointerOf } from './values.ts'

/** More than a person changes at once. Larger changes are named by their files alone. */
const maxEntries = 100

/**
 * Returns the JSON pointers of the entries that differ, such as `/event/todo_created`; none if a file cannot be parsed, or
 * if there are more than 100.
 */
export function listChangedEntries(before: Editing, after: Editing): readonly string[] {
  const [old, now] = [listEntries(before), listEntries(after)]
  if (old === undefined || now === undefined) return []
  const names = new Set([...old.keys(), ...now.keys()])
  const changed = [...names].filter((name) => old.get(name) !== now.get(name))
  return changed.length > maxEntries ? [] : changed
}

/** Returns the entries as JSON, by pointer; undefined if the files cannot be parsed. */
function listEntries(editing: Editing): ReadonlyMap<string, string> | undefined {
  try {
    const whole = findValue(editing, [])
    const sections = isMap(whole) ? Object.entries(whole) : []
    return new Map(
      sections.flatMap(([section, value]) =>
        isMap(value)
          ? Object.entries(value).map(([name, one]) => [pointerOf([section, name]), JSON.stringify(one)] as const)
          : [[pointerOf([section]), JSON.stringify(value)] as const],
      ),
    )
  } catch (error) {
    if (error instanceof EditRefused) return undefined
    throw error
  }
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
