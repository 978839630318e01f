import { TextInput } from '@mantine/core'

const texts = {
  word: 'breaking',
  label: 'To continue, type "breaking"',
  text: 'The setting "breaking_changes: forbid" does not allow changes that can break clients.',
} as const

/** Whether this is the word that allows breaking changes where `breaking_changes: forbid` applies. */
export function isBreakingWord(typed: string): boolean {
  return typed.trim().toLowerCase() === texts.word
}

interface TypedWordProps {
  readonly value: string
  onChange(value: string): void
}

/** Asks for a word before changes that the settings forbid. */
export function TypedWord({ value, onChange }: TypedWordProps) {
  return (
    <TextInput
      label={texts.label}
      description={texts.text}
      autoComplete="off"
      spellCheck={false}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
