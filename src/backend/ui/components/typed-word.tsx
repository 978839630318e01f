import { TextInput } from '@mantine/core'
import { publish } from '../strings/publish.ts'

const { forbidden: texts } = publish

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
