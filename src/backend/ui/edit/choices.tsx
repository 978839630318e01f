import {
  defaultOptionsFilter,
  Select,
  type ComboboxItem,
  type ComboboxItemGroup,
  type ComboboxParsedItem,
  type OptionsFilter,
  type SelectProps,
} from '@mantine/core'
import { useState } from 'react'
import { limitChoices } from './limit-choices.ts'
import { fieldTexts } from './field-texts.ts'

export type Choices = readonly (string | ComboboxItem | ComboboxItemGroup<string | ComboboxItem>)[]

/**
 * The properties of an input of Mantine with a list of choices: the list is made, and rendered, only while it is open. A
 * page with hundreds of inputs would otherwise contain all names of the project as often.
 * @param list makes the choices
 * @param chosen what the closed input shows
 */
export function useChoices(list: () => Choices, chosen: Choices = []) {
  const [isOpen, setOpen] = useState(false)
  return {
    data: [...(isOpen ? list() : chosen)],
    filter,
    comboboxProps: { keepMounted: false },
    onDropdownOpen: () => setOpen(true),
    onDropdownClose: () => setOpen(false),
  }
}

interface ChoiceSelectProps extends Omit<SelectProps, 'data' | 'value' | 'onChange'> {
  readonly choices: readonly ComboboxItem[]
  readonly value: string
  onChange(value: string): void
}

/** One of choices that a project may have very many of, such as its tables. */
export function ChoiceSelect({ choices, value, onChange, ...props }: ChoiceSelectProps) {
  const chosen = choices.filter((one) => one.value === value)
  return (
    <Select
      {...props}
      {...useChoices(() => choices, chosen)}
      value={value}
      searchable={choices.length > 6}
      nothingFoundMessage={fieldTexts.noOptions}
      onFocus={({ currentTarget }) => currentTarget.select()}
      onChange={(next) => onChange(next ?? value)}
    />
  )
}

const filter: OptionsFilter = (input) =>
  limitChoices(defaultOptionsFilter({ ...input, limit: Infinity }) as ComboboxParsedItem[], fieldTexts.moreChoices)
