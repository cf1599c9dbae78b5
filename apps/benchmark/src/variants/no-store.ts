import { GroupCommit } from '@plant-store/server/store/group-commit.js'

// Our program without its store: every create is answered at once.
GroupCommit.prototype.add = async () => 'created'
