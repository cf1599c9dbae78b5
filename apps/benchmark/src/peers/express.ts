import { createServer } from 'node:http'
import express from 'express'
import { serve } from './serve.ts'

// An Express server that keeps plants in memory.

const plants = new Map<number, { name: string; tag?: string }>()
const app = express()

app.use(express.json())
app.post('/plants', ({ body: { id, name, tag } }, response) => {
  const isPlant = Number.isInteger(id) && typeof name === 'string'
  if (!isPlant || (tag !== undefined && typeof tag !== 'string')) {
    response.sendStatus(400)
    return
  }
  const plant = { name, tag }
  plants.set(id, plant)
  response.json(plant)
})

serve(createServer(app))
