/** A choice, or a group of them, as in Mantine, whose types would need those of a browser. */
interface Choice {
  readonly value: string
  readonly label: string
  readonly disabled?: boolean
}

interface ChoiceGroup {
  readonly items: Choice[]
}

/** How many choices are shown at once. The others are found by typing. */
const maxShown = 100

/** No choice has it: names contain no control characters, and an empty one can mean that nothing is chosen. */
const moreValue = '\0more'

/** Leaves out the choices beyond the first ones, and says how many in a last one that cannot be chosen. */
export function limitChoices<One extends Choice | ChoiceGroup>(
  found: One[],
  sayMore: (count: number) => string,
): (One | Choice)[] {
  let left = maxShown
  let more = 0
  const take = <Item>(items: Item[]): Item[] => {
    const taken = items.slice(0, left)
    left -= taken.length
    more += items.length - taken.length
    return taken
  }
  const shown = found.flatMap((one): One[] => {
    if (!('items' in one)) return take([one])
    const items = take(one.items)
    return items.length === 0 ? [] : [{ ...one, items }]
  })
  return more === 0 ? found : [...shown, { value: moreValue, label: sayMore(more), disabled: true }]
}
