import { TextInput } from '@mantine/core'
import { Search } from 'lucide-react'
import { useState } from 'react'
import { filterTexts as texts } from './row-texts.ts'

interface RowSearchProps {
  readonly columns: readonly string[]
  onSearch(words: string): void
}

/** Finds rows by words, in a table with a search. */
export function RowSearch({ columns, onSearch }: RowSearchProps) {
  const [words, setWords] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (words.trim() === '') return
        setWords('')
        onSearch(words.trim())
      }}
    >
      <TextInput
        type="search"
        aria-label={texts.search}
        placeholder={texts.searchIn(columns)}
        leftSection={<Search size={14} aria-hidden />}
        value={words}
        onChange={(event) => setWords(event.currentTarget.value)}
      />
    </form>
  )
}
