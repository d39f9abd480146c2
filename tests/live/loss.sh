# loss.sh - nothing is lost silently: stored and lost together are what was produced, to the unit.
# limit: 300
. "$LIVE/lib.sh"
